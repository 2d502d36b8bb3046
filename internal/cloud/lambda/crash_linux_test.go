package lambda_test

const killedWithParent = true
