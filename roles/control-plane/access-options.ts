/** The options of every control plane for authentication, audit and encryption. */
export interface AccessFlags {
  encryptionProviderConfig?: string | undefined
  newEncryptionKey?: boolean | undefined
  authenticationConfig?: string | undefined
  tokenAuthFile?: string | undefined
  authenticationTokenWebhookConfigFile?: string | undefined
  authenticationTokenWebhookCacheTtl?: string | undefined
  authenticationTokenWebhookVersion?: string | undefined
  authorizationConfig?: string | undefined
  oidcIssuerUrl?: string | undefined
  oidcClientId?: string | undefined
  oidcUsernameClaim?: string | undefined
  oidcUsernamePrefix?: string | undefined
  oidcGroupsClaim?: string | undefined
  oidcGroupsPrefix?: string | undefined
  oidcRequiredClaim?: readonly string[] | undefined
  oidcSigningAlgs?: string | undefined
  oidcCaFile?: string | undefined
  enableAdmissionPlugins?: string | undefined
  auditPolicyFile?: string | undefined
  auditLogPath?: string | undefined
  auditLogMaxsize?: number | undefined
  auditLogMaxbackup?: number | undefined
  auditLogMaxage?: number | undefined
  auditWebhookConfigFile?: string | undefined
  auditWebhookBatchMaxSize?: number | undefined
  auditWebhookBatchMaxWait?: string | undefined
  auditWebhookBatchBufferSize?: number | undefined
}
