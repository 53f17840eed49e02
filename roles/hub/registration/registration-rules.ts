/** The rules by which a hub accepts agents. */
export interface RegistrationRules {
  /** Whether a person must accept each agent, whatever its token. */
  requiresAcceptance: boolean
  /** The time during which an expired certificate still lets its agent request the next one. */
  reEnrolmentGraceMs: number
}
