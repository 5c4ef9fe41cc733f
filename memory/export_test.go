package memory

// FitSize is what the tests of the package ask.
var FitSize = fitSize
