//! Passwords, keys and certificates.

mod aes;
mod bcrypt;
mod certificate;
mod der;
mod dsa;
mod key;
mod password;

use crate::function::Functions;

pub(super) fn add(functions: &mut Functions) {
    aes::add(functions);
    bcrypt::add(functions);
    password::add(functions);
    key::add(functions);
    certificate::add(functions);
}
