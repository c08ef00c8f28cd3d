//! Between the SDK and the server: what is sent, and what comes back.

use std::sync::{Arc, Mutex};

use aws_sdk_dynamodb::config::http::HttpRequest;
use aws_sdk_dynamodb::config::interceptors::{
    AfterDeserializationInterceptorContextRef, BeforeTransmitInterceptorContextMut,
};
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;

/// Changes a request after it was signed.
#[derive(Debug)]
pub(crate) struct AfterSigning(pub(crate) fn(&mut HttpRequest));

impl Intercept for AfterSigning {
    fn name(&self) -> &'static str {
        "AfterSigning"
    }

    fn modify_before_transmit(
        &self,
        context: &mut BeforeTransmitInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        (self.0)(context.request_mut());
        Ok(())
    }
}

/// Keeps the last answer: its headers and its bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers(Arc<Mutex<(Vec<(String, String)>, Vec<u8>)>>);

impl Answers {
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let answer = self.0.lock().unwrap();
        answer.0.iter().find(|(of, _)| of == name).map(|(_, value)| value.clone())
    }

    pub(crate) fn body(&self) -> Vec<u8> {
        self.0.lock().unwrap().1.clone()
    }
}

impl Intercept for Answers {
    fn name(&self) -> &'static str {
        "Answers"
    }

    fn read_after_deserialization(
        &self,
        context: &AfterDeserializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let response = context.response();
        let headers = response.headers().iter();
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        *self.0.lock().unwrap() = (headers, response.body().bytes().unwrap_or_default().to_vec());
        Ok(())
    }
}
