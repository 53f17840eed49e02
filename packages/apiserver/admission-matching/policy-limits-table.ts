/** Upstream's budgets, in the cost units of the language. */
export const policyLimits = Object.freeze({
  /** Of one expression. */
  callCostMax: 1_000_000,
  /** Of all validations, messages and variables of one policy with one binding and one parameter. */
  bindingCostMax: 10_000_000,
  /** Of the match conditions of one webhook, or of one policy with one binding. */
  conditionsCostMax: 2_500_000,
  messageBytesMax: 5 * 1024,
  auditValueBytesMax: 10 * 1024,
})
