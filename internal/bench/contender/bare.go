package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/task"
)

type item = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// bare does the two writes of a claimed and finished task with the SDK alone: the same rows and conditions, written down by hand.
func bare() func(context.Context, string) (bool, error) {
	boot.Tune()
	env := boot.MustEnv(boot.Table)
	c := client(env)
	return func(ctx context.Context, id string) (bool, error) {
		owner := uuid.NewString()
		_, err := c.PutItem(ctx, bareClaim(env.TableName, id, owner))
		var refused *types.ConditionalCheckFailedException
		if errors.As(err, &refused) {
			return false, nil
		}
		if err == nil {
			_, err = c.UpdateItem(ctx, bareFinish(env.TableName, id, owner))
		}
		return err == nil, err
	}
}

func bareClaim(table, id, owner string) *dynamodb.PutItemInput {
	now := time.Now()
	k := key.Task(id)
	return &dynamodb.PutItemInput{TableName: &table,
		Item: item{
			key.PK: text(k.PK), key.SK: text(k.SK), "entity": text("AgentTask"), "taskId": text(id), "status": text("RUNNING"),
			"principal": &types.AttributeValueMemberM{Value: item{"type": text("system"), "id": text("bench")}},
			"request":   text(request), "sessionId": text(""), "owner": text(owner), "fence": number(1), "attempt": number(1),
			"lastDelivery": text("delivery-" + id), "detail": text(`{"taskId":"` + id + `","principal":{"type":"system","id":"bench"},"request":"` + request + `"}`),
			"createdAt": number(now.UnixMilli()), "updatedAt": number(now.UnixMilli()), "expiresAt": number(now.Add(task.Life).Unix()),
			"leaseUntil": number(now.Add(task.Lease).UnixMilli()), "duePk": text(key.DuePK(k.PK)), "dueSk": text(key.DueSK(now.Add(task.Lease).UnixMilli())),
		},
		ConditionExpression: aws.String("(attribute_not_exists(#f) OR NOT contains(#f, :d)) AND (attribute_not_exists(#p) OR #s = :p OR (#s = :r AND #l < :n) OR " +
			"(#s = :x AND attribute_not_exists(#c) AND attribute_not_exists(#o))) AND attribute_not_exists(#p)"),
		ExpressionAttributeNames:            map[string]string{"#f": "failedBy", "#p": "pk", "#s": "status", "#l": "leaseUntil", "#c": "cancelled", "#o": "completionOwed"},
		ExpressionAttributeValues:           item{":d": text("delivery-" + id), ":p": text("PENDING"), ":r": text("RUNNING"), ":x": text("FAILED"), ":n": number(now.UnixMilli())},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

func bareFinish(table, id, owner string) *dynamodb.UpdateItemInput {
	now := time.Now()
	k := key.Task(id)
	return &dynamodb.UpdateItemInput{TableName: &table,
		Key:                                 item{key.PK: text(k.PK), key.SK: text(k.SK)},
		UpdateExpression:                    aws.String("SET #s = :s, #t = :t, #c = :c, #u = :u, #e = :e, #d = :d, #dp = :dp REMOVE #o, #l"),
		ConditionExpression:                 aws.String("#o = :o AND #f = :f AND #s = :r"),
		ExpressionAttributeNames:            map[string]string{"#s": "status", "#t": "output", "#c": "completionOwed", "#u": "updatedAt", "#e": "expiresAt", "#d": "dueSk", "#dp": "duePk", "#o": "owner", "#l": "leaseUntil", "#f": "fence"},
		ExpressionAttributeValues:           item{":s": text("COMPLETED"), ":t": text("ok"), ":c": number(1), ":u": number(now.UnixMilli()), ":e": number(now.Add(task.Life).Unix()), ":d": text(key.DueSK(now.UnixMilli())), ":dp": text(key.DuePK(k.PK)), ":o": text(owner), ":f": number(1), ":r": text("RUNNING")},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}
