//! Sums and products of decimal numbers, as `github.com/shopspring/decimal` does them: exact but for division, which has
//! 16 digits behind the point.

use num_bigint::{BigInt, Sign};

use crate::error::Error;
use crate::value::Value;

/// `digits × 10^exponent`
struct Decimal {
    digits: BigInt,
    exponent: i32,
}

#[derive(Clone, Copy)]
pub(super) enum Operation {
    Add,
    Sub,
    Mul,
    Div,
}

/// How many digits quotients have behind the point.
const PRECISION: i32 = 16;

/// How long numbers may get. A product of many floats is longer than anybody needs; Go goes on.
const LONGEST: u64 = 1 << 20;

/// Goes through all numbers from left to right.
pub(super) fn fold(first: f64, others: &[f64], operation: Operation) -> Result<Value, Error> {
    let mut result = Decimal::new(first)?;
    for other in others {
        let other = Decimal::new(*other)?;
        result = match operation {
            Operation::Add => result.add(other),
            Operation::Sub => result.add(other.negated()),
            Operation::Mul => result.mul(&other),
            Operation::Div => result.div(&other)?,
        };
        if result.digits.bits() > LONGEST {
            return Err(Error::limit("a decimal number gets too long"));
        }
    }
    Ok(Value::Float(result.to_float()))
}

fn power(exponent: i32) -> BigInt {
    BigInt::from(10).pow(exponent.unsigned_abs())
}

impl Decimal {
    /// The shortest number that is this float.
    fn new(number: f64) -> Result<Decimal, Error> {
        if !number.is_finite() {
            let shown = crate::print::float::format_float(number, 'g', None);
            let shown = String::from_utf8_lossy(&shown).into_owned();
            return Err(Error::new(format!("Cannot create a Decimal from {shown}")));
        }
        let text = format!("{number:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}").parse().unwrap_or_default();
        let exponent: i32 = exponent.parse().unwrap_or_default();
        Ok(Decimal {
            digits,
            exponent: exponent - fraction.len() as i32,
        })
    }

    fn negated(self) -> Decimal {
        Decimal {
            digits: -self.digits,
            ..self
        }
    }

    /// The digits at another exponent, which is not above its own.
    fn at(&self, exponent: i32) -> BigInt {
        &self.digits * power(self.exponent - exponent)
    }

    fn add(self, other: Decimal) -> Decimal {
        let exponent = self.exponent.min(other.exponent);
        Decimal {
            digits: self.at(exponent) + other.at(exponent),
            exponent,
        }
    }

    fn mul(self, other: &Decimal) -> Decimal {
        Decimal {
            digits: self.digits * &other.digits,
            exponent: self.exponent.saturating_add(other.exponent),
        }
    }

    fn div(self, other: &Decimal) -> Result<Decimal, Error> {
        if other.digits.sign() == Sign::NoSign {
            return Err(Error::new("decimal division by 0"));
        }
        // One is brought to the exponent at which the quotient is whole at the last digit.
        let scale = self.exponent - other.exponent + PRECISION;
        let (dividend, divisor) = match scale >= 0 {
            true => (self.digits * power(scale), other.digits.clone()),
            false => (self.digits, &other.digits * power(scale)),
        };
        let (quotient, rest) = (&dividend / &divisor, &dividend % &divisor);
        let doubled: BigInt = rest * 2;
        let mut digits = quotient;
        if doubled.magnitude() >= divisor.magnitude() {
            digits += if (dividend.sign() == Sign::Minus) == (divisor.sign() == Sign::Minus) {
                1
            } else {
                -1
            };
        }
        Ok(Decimal {
            digits,
            exponent: -PRECISION,
        })
    }

    fn to_float(&self) -> f64 {
        format!("{}e{}", self.digits, self.exponent)
            .parse()
            .unwrap_or(0.0)
    }
}
