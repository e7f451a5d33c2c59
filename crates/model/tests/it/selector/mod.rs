mod field;
mod label;
mod structured;
