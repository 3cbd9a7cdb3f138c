// A declaration without a body needs a file of assembly in its package.
