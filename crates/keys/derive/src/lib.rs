//! `#[derive(Key)]`: a struct as a whole key, its fields in the order they are written.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Field, GenericParam, LitStr, Result, parse_macro_input};

/// Makes a struct a key: its fields in order, ascending unless they say `#[key(desc)]`, nullable
/// where they are an `Option`, with nulls first unless they say `#[key(nulls = "last")]`.
///
/// ```
/// use stonecrop_keys::Key;
///
/// #[derive(Key)]
/// struct Score {
///     player: String,
///     #[key(desc, nulls = "last")]
///     points: Option<u32>,
/// }
/// assert_eq!(Score::schema().to_string(), "player string, points u32 desc nulls last");
/// ```
#[proc_macro_derive(Key, attributes(key))]
pub fn derive_key(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "only a struct can be a key"));
    };
    if data.fields.is_empty() {
        return Err(Error::new_spanned(&input.ident, "a key has at least one field"));
    }
    let mut lifetimes = Vec::new();
    for parameter in &input.generics.params {
        match parameter {
            GenericParam::Lifetime(lifetime) => lifetimes.push(&lifetime.lifetime),
            other => {
                return Err(Error::new_spanned(other, "a key has no type or const parameters"));
            }
        }
    }
    let (mut schema, mut write, mut read) = (Vec::new(), Vec::new(), Vec::new());
    for (index, field) in data.fields.iter().enumerate() {
        let ty = &field.ty;
        let Order { direction, nulls, null_check } = order(field)?;
        let (member, name) = match &field.ident {
            Some(ident) => (syn::Member::from(ident.clone()), unraw(ident)),
            None => (syn::Member::from(index), (index + 1).to_string()),
        };
        schema.push(quote! {
            #null_check
            ::stonecrop_keys::field_of::<#ty>(#name, #direction, #nulls)
        });
        write.push(quote! { key.push_ordered(&self.#member, #direction, #nulls); });
        read.push(quote! { #member: reader.read_named::<#ty>(#name, #direction, #nulls)? });
    }
    let name = &input.ident;
    // The key is borrowed for as long as anything that the struct borrows from it.
    let bound = if lifetimes.is_empty() { quote!() } else { quote!(: #(#lifetimes)+*) };
    let (_, generics, wheres) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl<'key #bound #(, #lifetimes)*> ::stonecrop_keys::Key<'key>
            for #name #generics #wheres
        {
            fn schema() -> ::stonecrop_keys::Schema {
                ::stonecrop_keys::schema_of(::std::vec![#({ #schema }),*])
            }

            #[inline]
            fn write_fields(&self, key: &mut ::stonecrop_keys::KeyBuilder<'_>) {
                #(#write)*
            }

            #[inline]
            fn read_fields(
                reader: &mut ::stonecrop_keys::KeyReader<'key>,
            ) -> ::stonecrop_keys::Result<Self> {
                ::std::result::Result::Ok(#name { #(#read),* })
            }
        }
    })
}

/// `type`, not `r#type`.
fn unraw(ident: &syn::Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").map_or(name.clone(), str::to_owned)
}

struct Order {
    direction: TokenStream,
    nulls: TokenStream,
    /// Refuses a place for nulls on a field that has none, where its type is known.
    null_check: TokenStream,
}

fn order(field: &Field) -> Result<Order> {
    let mut order = Order {
        direction: quote!(::stonecrop_keys::Direction::Asc),
        nulls: quote!(::stonecrop_keys::Nulls::First),
        null_check: TokenStream::new(),
    };
    let ty = &field.ty;
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("key")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("asc") {
                return Ok(());
            }
            if meta.path.is_ident("desc") {
                order.direction = quote!(::stonecrop_keys::Direction::Desc);
                return Ok(());
            }
            if meta.path.is_ident("nulls") {
                let place: LitStr = meta.value()?.parse()?;
                order.nulls = match place.value().as_str() {
                    "first" => quote!(::stonecrop_keys::Nulls::First),
                    "last" => quote!(::stonecrop_keys::Nulls::Last),
                    _ => return Err(Error::new_spanned(&place, "nulls are \"first\" or \"last\"")),
                };
                order.null_check = quote! {
                    const { assert!(
                        <#ty as ::stonecrop_keys::ToKey>::NULLABLE,
                        "nulls have a place only in a field that is an Option",
                    ) };
                };
                return Ok(());
            }
            Err(meta.error("expected asc, desc, or nulls = \"first\" or \"last\""))
        })?;
    }
    Ok(order)
}
