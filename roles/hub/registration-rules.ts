const dayMs = 24 * 3_600_000

/** How a hub lets agents in. */
export interface RegistrationRules {
  /** A person accepts each agent, whatever its token says. */
  requiresAcceptance: boolean
  /** For how long an expired certificate still lets its agent ask for the next one. */
  reEnrolmentGraceMs: number
}

export const registrationDefaults: Readonly<RegistrationRules> = Object.freeze({
  requiresAcceptance: false,
  reEnrolmentGraceMs: 30 * dayMs,
})
