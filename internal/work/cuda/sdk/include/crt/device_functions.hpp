// Clang includes a file of this name; what would stand in it is part of clang or of other headers here.
