package cloud

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/schedule"
	"github.com/steadfast-agents/steadfast/internal/cloud/bus"
)

// fireReminder is the function that fires reminders.
const fireReminder = "fire-reminder"

// holdReminder keeps reminders from firing by the clock where recurring schedules do not fire either. They stay as they are: with
// FireSchedules on the same data folder they fire late, and by hand at once.
func (c *Cloud) holdReminder(e bus.Event) bool {
	if c.options.FireSchedules || e.DetailType != contract.FireReminderType {
		return false
	}
	var d contract.FireReminder
	if json.Unmarshal(e.Detail, &d) != nil || d.Manual {
		return false
	}
	c.log.Info("a reminder is due, and timers are off: --fire-schedules turns them on, POST /dev/reminders/{id} fires one", "reminder", d.ReminderID, "at", string(d.At))
	return true
}

// devFireReminder fires a reminder once, through the function that production fires, and answers what it came to.
func (c *Cloud) devFireReminder(w http.ResponseWriter, r *http.Request) {
	var fired contract.ReminderFired
	detail := contract.FireReminder{ReminderID: r.PathValue("id"), Manual: true}
	switch err := c.fire(r, fireReminder, contract.FireReminderType, detail, &fired); {
	case err != nil:
		refuse(w, http.StatusServiceUnavailable, err.Error())
	case fired.Code == "not_found":
		writeJSON(w, http.StatusNotFound, contract.ErrorBody{Message: fired.Error, Code: fired.Code})
	case fired.Code != "":
		writeJSON(w, http.StatusConflict, contract.ErrorBody{Message: fired.Error, Code: fired.Code})
	default:
		writeJSON(w, http.StatusOK, fired)
	}
}

// devReminders lists the reminders of all conversations, those that are active first, the next to fire first.
func (c *Cloud) devReminders(w http.ResponseWriter, r *http.Request) {
	all, err := c.reminders(r.Context())
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	slices.SortFunc(all, func(a, b contract.Reminder) int { // an instant sorts as text; none is after all of them
		return strings.Compare(orLast(a.NextFireAt)+a.ReminderID, orLast(b.NextFireAt)+b.ReminderID)
	})
	writeJSON(w, http.StatusOK, contract.Reminders{Reminders: all})
}

func orLast(at contract.Instant) string {
	if at == "" {
		return "~"
	}
	return string(at)
}

func (c *Cloud) reminders(ctx context.Context) ([]contract.Reminder, error) {
	all := []contract.Reminder{}
	db := dynamodb.New(dynamodb.Options{
		BaseEndpoint: &c.info.AWS, Region: c.stack.Region, Credentials: credentials.NewStaticCredentialsProvider("developer", "local", ""),
	})
	pages := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{
		TableName: &c.info.Table, FilterExpression: aws.String("sk = :sk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":sk": &types.AttributeValueMemberS{Value: "REMINDER"}},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("read reminders: %w", err)
		}
		for _, item := range page.Items {
			var row schedule.ReminderRow
			if err := attributevalue.UnmarshalMap(item, &row); err != nil {
				return nil, fmt.Errorf("read a reminder: %w", err)
			}
			all = append(all, row.View())
		}
	}
	return all, nil
}
