//! `#[derive(Key)]`: a struct as a whole key, its fields in the order they are written.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt as _;
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
    let keys = keys_crate(input)?;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "only a struct can be a key"));
    };
    if data.fields.is_empty() {
        return Err(Error::new_spanned(&input.ident, "a key has at least one field"));
    }
    let (mut lifetimes, mut bounds) = (Vec::new(), Vec::new());
    for parameter in &input.generics.params {
        match parameter {
            GenericParam::Lifetime(parameter) => {
                lifetimes.push(&parameter.lifetime);
                let (colon, outlived) = (&parameter.colon_token, &parameter.bounds);
                bounds.push(quote!(#colon #outlived));
            }
            other => {
                return Err(Error::new_spanned(other, "a key has no type or const parameters"));
            }
        }
    }
    let (mut schema, mut write, mut read) = (Vec::new(), Vec::new(), Vec::new());
    for (index, field) in data.fields.iter().enumerate() {
        let ty = &field.ty;
        let Order { direction, nulls, null_check } = order(field, &keys)?;
        let (member, name) = match &field.ident {
            Some(ident) => (syn::Member::from(ident.clone()), ident.unraw().to_string()),
            None => (syn::Member::from(index), (index + 1).to_string()),
        };
        schema.push(quote! {
            #null_check
            #keys::field_of::<#ty>(#name, #direction, #nulls)
        });
        write.push(quote! { __key.push_ordered(&self.#member, #direction, #nulls); });
        read.push(quote! { #member: __reader.read_named::<#ty>(#name, #direction, #nulls)? });
    }
    let name = &input.ident;
    // The key is borrowed for as long as anything that the struct borrows from it.
    let bound = if lifetimes.is_empty() { quote!() } else { quote!(: #(#lifetimes)+*) };
    let (own_generics, generics, wheres) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #own_generics #keys::Key for #name #generics #wheres {
            fn schema() -> #keys::Schema {
                #keys::schema_of(::std::vec![#({ #schema }),*])
            }

            #[inline]
            fn write_fields(&self, __key: &mut #keys::KeyBuilder<'_>) {
                #(#write)*
            }
        }

        #[automatically_derived]
        impl<'__key #bound #(, #lifetimes #bounds)*> #keys::DecodeKey<'__key>
            for #name #generics #wheres
        {
            #[inline]
            fn read_fields(
                __reader: &mut #keys::KeyReader<'__key>,
            ) -> #keys::Result<Self> {
                ::std::result::Result::Ok(#name { #(#read),* })
            }
        }
    })
}

/// The path of the crate: `#[key(crate = "path")]` on the struct, for those who have it renamed.
fn keys_crate(input: &DeriveInput) -> Result<TokenStream> {
    let mut path = quote!(::stonecrop_keys);
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("key")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                return Err(meta.error("on a struct, expected crate = \"path\""));
            }
            let given: LitStr = meta.value()?.parse()?;
            let given: syn::Path = given.parse()?;
            path = quote!(#given);
            Ok(())
        })?;
    }
    Ok(path)
}

struct Order {
    direction: TokenStream,
    nulls: TokenStream,
    /// Refuses a place for nulls on a field that has none, where its type is known.
    null_check: TokenStream,
}

fn order(field: &Field, keys: &TokenStream) -> Result<Order> {
    let mut order = Order {
        direction: quote!(#keys::Direction::Asc),
        nulls: quote!(#keys::Nulls::First),
        null_check: TokenStream::new(),
    };
    let ty = &field.ty;
    let mut directed = false;
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("key")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("asc") || meta.path.is_ident("desc") {
                if std::mem::replace(&mut directed, true) {
                    return Err(meta.error("the field has a direction already"));
                }
                if meta.path.is_ident("desc") {
                    order.direction = quote!(#keys::Direction::Desc);
                }
                return Ok(());
            }
            if meta.path.is_ident("nulls") {
                let place: LitStr = meta.value()?.parse()?;
                order.nulls = match place.value().as_str() {
                    "first" => quote!(#keys::Nulls::First),
                    "last" => quote!(#keys::Nulls::Last),
                    _ => return Err(Error::new_spanned(&place, "nulls are \"first\" or \"last\"")),
                };
                order.null_check = quote! {
                    const { ::core::assert!(
                        <#ty as #keys::ToKey>::NULLABLE,
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
