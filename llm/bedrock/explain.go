package bedrock

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/ssocreds"
	"github.com/aws/smithy-go"

	"github.com/tenon-agent/tenon/llm"
)

// explain says why there are no credentials and what to do. The error itself is not shown where it may hold a secret.
func explain(err error, profile string) string {
	option := ""
	if profile != "" {
		option = " --profile " + profile
	}
	text := err.Error()
	operation, _ := errors.AsType[*smithy.OperationError](err)
	if _, ok := errors.AsType[config.SharedConfigProfileNotExistError](err); ok {
		return "AWS has no profile of that name: " + text + ": `aws configure list-profiles` shows those that are in ~/.aws/config, " +
			"and AWS_PROFILE chooses one"
	}
	if _, ok := errors.AsType[config.AssumeRoleTokenProviderNotSetError](err); ok {
		return "the role of the AWS profile demands a code of an MFA device, which cannot be asked for here: begin a session that has it, " +
			"as with `aws sts get-session-token`, or let a credential_process do it"
	}
	if _, ok := errors.AsType[*processcreds.ProviderError](err); ok {
		if _, _, found := strings.Cut(text, "process output"); found {
			return "the credential_process of the AWS profile did not write the JSON of credentials: run it by hand to see what it writes"
		}
		if said, ok := errors.AsType[*processError](err); ok {
			text = said.Error()
		}
		return "the credential_process of the AWS profile failed: " + text
	}
	if isSSO(err, operation) {
		return "the AWS single sign-on session has expired or was never begun: run `aws sso login" + option + "`, then ask again (" + text + ")"
	}
	switch {
	case strings.Contains(text, "reauthenticate"), strings.Contains(text, "login token"):
		return "the AWS login has expired: run `aws login" + option + "`, then ask again (" + text + ")"
	case operation != nil && operation.Service() == "ec2imds":
		return noCredentials
	case errors.Is(err, context.DeadlineExceeded):
		return "AWS handed out no credentials in time (" + text + ")"
	default:
		return "AWS handed out no credentials: " + text
	}
}

const noCredentials = "no AWS credentials were found: not in AWS_BEARER_TOKEN_BEDROCK, not in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, not for the profile " +
	"(AWS_PROFILE, or default) in ~/.aws/config and ~/.aws/credentials, and this is no machine of AWS that has a role. " +
	"Set AWS_PROFILE, run `aws sso login` or `aws configure`, or set one of these variables"

// isSSO reports whether single sign-on failed in a way that a login fixes.
func isSSO(err error, operation *smithy.OperationError) bool {
	if _, ok := errors.AsType[*ssocreds.InvalidTokenError](err); ok || strings.Contains(err.Error(), "SSO token") {
		return true
	}
	if operation == nil || operation.Service() != "SSO" && operation.Service() != "SSO OIDC" {
		return false
	}
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && (api.ErrorCode() == "UnauthorizedException" || api.ErrorCode() == "InvalidGrantException")
}

// advise adds to an error of Bedrock what to do about it, where Bedrock does not say so.
func (c *Client) advise(e *llm.Error, region string) *llm.Error {
	text := strings.ToLower(e.Message)
	advice := ""
	switch {
	case e.Kind == llm.KindAuth && e.Status != 0 && c.signs():
		c.account.forget()
		switch {
		case strings.Contains(text, "signature expired"), strings.Contains(text, "signature not yet current"):
			advice = "is the clock of this machine right?"
		case strings.Contains(text, "expired"):
			advice = "renew the credentials, as with `aws sso login`, then ask again"
		}
	case strings.Contains(text, "on-demand throughput"):
		advice = "put the name of an inference profile before the model's, such as " + profileOf(region) + "." + c.model.ID
	}
	if advice == "" {
		return e
	}
	with := *e
	with.Message = strings.TrimRight(e.Message, ". ") + ": " + advice
	return &with
}

// profileOf returns the group of regions that inference profiles are for.
func profileOf(region string) string {
	group, _, _ := strings.Cut(cmp.Or(region, "us"), "-")
	if group == "ap" {
		return "apac"
	}
	return group
}
