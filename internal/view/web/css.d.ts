// Styles are imported for the bundler only.
declare module "*.css";
declare module "uplot/css";
