package fake

import (
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// dynamoError gives err the shape in which the SDK returns it: a modeled error inside of an OperationError.
func dynamoError(operation string, err error) error {
	var refused attr.Refused
	switch {
	case errors.As(err, &refused):
		err = &smithy.GenericAPIError{Code: "ValidationException", Message: refused.Message, Fault: smithy.FaultClient}
	case errors.Is(err, ErrThrottled):
		err = &types.ThrottlingException{Message: aws.String("Throughput exceeds the current throughput limit for your account")}
	case errors.Is(err, ErrConflict):
		err = &types.TransactionConflictException{Message: aws.String("Transaction is ongoing for the item")}
	case errors.Is(err, ErrLost):
		err = lost{}
	}
	return &smithy.OperationError{ServiceID: "DynamoDB", OperationName: operation, Err: err}
}

// lost is ErrLost as a client sees it: a timeout of the network.
type lost struct{}

func (lost) Error() string   { return ErrLost.Error() }
func (lost) Timeout() bool   { return true }
func (lost) Temporary() bool { return true }
func (lost) Unwrap() error   { return ErrLost }

func conditionFailed(old attr.Item) error {
	return &types.ConditionalCheckFailedException{Message: aws.String("The conditional request failed"), Item: old}
}

// cancelled makes the error of a transaction from what each of its actions said.
func cancelled(reasons []types.CancellationReason) error {
	codes := make([]string, len(reasons))
	for i, r := range reasons {
		codes[i] = aws.ToString(r.Code)
	}
	message := "Transaction cancelled, please refer cancellation reasons for specific reasons [" + strings.Join(codes, ", ") + "]"
	return &types.TransactionCanceledException{Message: &message, CancellationReasons: reasons}
}

// conflicting is a transaction cancelled because another holds its first row.
func conflicting(actions int) error {
	reasons := make([]types.CancellationReason, actions)
	for i := range reasons {
		reasons[i].Code = aws.String("None")
	}
	if actions > 0 {
		reasons[0] = types.CancellationReason{Code: aws.String("TransactionConflict"), Message: aws.String("Transaction is ongoing for the item")}
	}
	return cancelled(reasons)
}

// transactionError gives a conflict with another transaction the shape it has for transactions.
func transactionError(operation string, actions int, err error) error {
	var conflict *types.TransactionConflictException
	if !errors.As(err, &conflict) {
		return err
	}
	return dynamoError(operation, conflicting(actions))
}
