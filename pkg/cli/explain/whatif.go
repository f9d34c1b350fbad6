package explain

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/explanation"
)

// parseWhatIf reads request=CPU, limit=CPU and dilation=TIMES; nil for none.
func parseWhatIf(texts []string) (*explanation.Change, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	c := &explanation.Change{}
	for _, text := range texts {
		key, value, err := verb.Pair(text, "request=300m")
		if err == nil {
			err = setChange(c, key, value)
		}
		if err != nil {
			return nil, fmt.Errorf("--what-if %s: %w", text, err)
		}
	}
	if c.Request != nil && c.Dilation != 0 {
		return nil, errors.New("--what-if: dilation asks for a request: leave one of them out")
	}
	return c, nil
}

func setChange(c *explanation.Change, key, value string) (err error) {
	switch key {
	case "request":
		c.Request, err = cpu(c.Request, value)
	case "limit":
		c.Limit, err = cpu(c.Limit, value)
	case "dilation":
		if c.Dilation, err = strconv.ParseFloat(strings.TrimSuffix(value, "×"), 64); err != nil || !(c.Dilation > 1) || math.IsInf(c.Dilation, 0) {
			return fmt.Errorf("%q is not a number above 1, such as 1.5", value)
		}
	default:
		return fmt.Errorf("%q is not one of request, limit, dilation", key)
	}
	return err
}

// cpu reads an amount of CPU that was not given before.
func cpu(before *resource.Quantity, value string) (*resource.Quantity, error) {
	if before != nil {
		return nil, errors.New("it is given twice")
	}
	q, err := verb.Number(value, "500m or 2")
	if err == nil && q.Sign() < 0 {
		return nil, fmt.Errorf("%s is less than 0", value)
	}
	return q, err
}
