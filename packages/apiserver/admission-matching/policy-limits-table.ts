/** Upstream's budgets, in CEL cost units. */
export const policyLimits = Object.freeze({
  /** The budget of one expression. */
  callCostMax: 1_000_000,
  /**
   * The budget of all validations, messages and variables of one policy with one binding and one
   * parameter.
   */
  bindingCostMax: 10_000_000,
  /** The budget of the match conditions of one webhook, or of one policy with one binding. */
  conditionsCostMax: 2_500_000,
  messageBytesMax: 5 * 1024,
  auditValueBytesMax: 10 * 1024,
})
