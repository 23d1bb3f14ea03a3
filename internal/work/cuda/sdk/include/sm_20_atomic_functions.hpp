// Clang includes a file of this name; its contents are in clang or in other headers here.
