/** The options of every control plane for authentication, authorization, admission, audit and encryption. */
export interface AccessOptions {
  readonly encryption?: EncryptionOptions
  /** The file of an AuthenticationConfiguration. */
  readonly authenticationConfig?: string | undefined
  readonly tokenAuthFile?: string | undefined
  readonly tokenWebhook?: TokenWebhookOptions
  readonly oidc?: OidcOptions
  /** The file of an AuthorizationConfiguration. */
  readonly authorizationConfig?: string | undefined
  /** Names separated by commas, in addition to those that are always on. */
  readonly enableAdmissionPlugins?: string | undefined
  readonly audit?: AuditOptions
  /**
   * The interval at which rights of open watches and sessions are checked again. If omitted, they are never checked
   * again.
   */
  readonly checkMs?: number
}

export interface EncryptionOptions {
  /** The file of an EncryptionConfiguration. If omitted, the control plane has a key of its own. */
  readonly providerConfig?: string | undefined
  /** Makes a new key of its own, although values of an old one may be in the store. */
  readonly newKey?: boolean | undefined
}

export interface TokenWebhookOptions {
  readonly configFile?: string | undefined
  readonly cacheTtl?: string | undefined
  readonly version?: string | undefined
}

/** One OpenID Connect issuer. */
export interface OidcOptions {
  readonly issuerUrl?: string | undefined
  readonly clientId?: string | undefined
  readonly usernameClaim?: string | undefined
  readonly usernamePrefix?: string | undefined
  readonly groupsClaim?: string | undefined
  readonly groupsPrefix?: string | undefined
  readonly requiredClaim?: readonly string[] | undefined
  readonly signingAlgs?: string | undefined
  readonly caFile?: string | undefined
}

export interface AuditOptions {
  /** If omitted, nothing is recorded. */
  readonly policyFile?: string | undefined
  readonly log?: AuditFileOptions
  readonly webhook?: AuditWebhookOptions
}

export interface AuditFileOptions {
  readonly path?: string | undefined
  readonly maxMegabytes?: number | undefined
  readonly maxBackups?: number | undefined
  readonly maxAgeDays?: number | undefined
}

export interface AuditWebhookOptions {
  readonly configFile?: string | undefined
  readonly batchMaxSize?: number | undefined
  readonly batchMaxWait?: string | undefined
  readonly batchBufferSize?: number | undefined
}
