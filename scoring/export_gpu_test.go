package scoring

// Exp is exp, for golden models.
var Exp = exp
