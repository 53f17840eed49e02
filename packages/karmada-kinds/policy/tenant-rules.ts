/**
 * Freedoms that Karmada gives the writers of one namespace over others, and a hub does not unless it is asked
 * to. Default of each: false.
 */
export interface TenantRules {
  /** An OverridePolicy may change what an object is, and what it grants or limits. */
  readonly anyOverride?: boolean
  /** An object may take along dependencies of other namespaces. */
  readonly foreignDependencies?: boolean
}

/** The options of a hub that set the rules, as refusals name them. */
export const tenantOptions: Readonly<Record<keyof TenantRules, string>> = Object.freeze({
  anyOverride: '--allow-any-override',
  foreignDependencies: '--allow-foreign-dependencies',
})
