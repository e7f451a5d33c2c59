mod forge;
mod hostile;
mod ignore;
mod pack;
mod properties;
