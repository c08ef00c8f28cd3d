//! The statements.

use stonecrop::Value;

use super::condition::condition;
use super::input::{
    Input, Parsed, fail, list, must_sign, must_word, name, path, refuse, sign, word,
};
use super::literal::value;
use super::update::sections;
use super::{DeleteOne, Insert, OrderBy, Returning, Select, Statement, UpdateOne};
use crate::error::Error;
use crate::expression::{Projection, check_apart};
use crate::value::check_nesting;

pub(super) fn statement(input: &mut Input<'_, '_>) -> Parsed<Statement> {
    if word(input, "SELECT")? {
        select(input).map(Statement::Select)
    } else if word(input, "INSERT")? {
        insert(input).map(Statement::Insert)
    } else if word(input, "UPDATE")? {
        update(input).map(Statement::Update)
    } else if word(input, "DELETE")? {
        delete(input).map(Statement::Delete)
    } else if word(input, "EXISTS")? {
        must_sign(input, "(")?;
        must_word(input, "SELECT")?;
        let select = select(input)?;
        must_sign(input, ")")?;
        Ok(Statement::Exists(select))
    } else {
        fail("Expected data manipulation")
    }
}

fn select(input: &mut Input<'_, '_>) -> Parsed<Select> {
    let projection = match sign(input, "*")? {
        true => None,
        false => {
            let paths = list(input, path)?;
            if let Err(problem) = check_apart(&paths.iter().collect::<Vec<_>>()) {
                return refuse(Error::validation(problem));
            }
            Some(Projection::new(paths))
        }
    };
    must_word(input, "FROM")?;
    let table = name(input)?;
    let index = if sign(input, ".")? { Some(name(input)?) } else { None };
    let condition = if word(input, "WHERE")? { Some(condition(input)?) } else { None };
    let order = match word(input, "ORDER")? {
        true => {
            must_word(input, "BY")?;
            list(input, order_by)?
        }
        false => Vec::new(),
    };
    Ok(Select { table, index, projection, condition, order })
}

fn order_by(input: &mut Input<'_, '_>) -> Parsed<OrderBy> {
    let attribute = name(input)?;
    let descending = word(input, "DESC")?;
    if !descending {
        word(input, "ASC")?;
    }
    Ok(OrderBy { attribute, descending })
}

fn insert(input: &mut Input<'_, '_>) -> Parsed<Insert> {
    must_word(input, "INTO")?;
    let table = name(input)?;
    must_word(input, "VALUE")?;
    let Value::Map(item) = value(input)? else { return fail("Expected a tuple") };
    match check_nesting(&item) {
        Ok(()) => Ok(Insert { table, item }),
        Err(error) => refuse(error),
    }
}

fn update(input: &mut Input<'_, '_>) -> Parsed<UpdateOne> {
    let table = name(input)?;
    let update = sections(input)?;
    must_word(input, "WHERE")?;
    let condition = condition(input)?;
    let returning = match word(input, "RETURNING")? {
        true => Some(returning(input)?),
        false => None,
    };
    Ok(UpdateOne { table, update, condition, returning })
}

fn returning(input: &mut Input<'_, '_>) -> Parsed<Returning> {
    let all = word(input, "ALL")?;
    if !all {
        must_word(input, "MODIFIED")?;
    }
    let old = word(input, "OLD")?;
    if !old {
        must_word(input, "NEW")?;
    }
    must_sign(input, "*")?;
    Ok(match (all, old) {
        (true, true) => Returning::AllOld,
        (true, false) => Returning::AllNew,
        (false, true) => Returning::ModifiedOld,
        (false, false) => Returning::ModifiedNew,
    })
}

fn delete(input: &mut Input<'_, '_>) -> Parsed<DeleteOne> {
    must_word(input, "FROM")?;
    let table = name(input)?;
    must_word(input, "WHERE")?;
    let condition = condition(input)?;
    let returning_old = word(input, "RETURNING")?;
    if returning_old {
        must_word(input, "ALL")?;
        must_word(input, "OLD")?;
        must_sign(input, "*")?;
    }
    Ok(DeleteOne { table, condition, returning_old })
}
