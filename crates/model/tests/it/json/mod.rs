mod read;
mod strict;
mod write;
