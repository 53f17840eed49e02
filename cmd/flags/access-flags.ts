import type { Command } from 'commander'
import type { AccessOptions } from '../../roles/control-plane/access-options.ts'

/** The words of these options, each as kube-apiserver has it. */
export interface AccessFlags
  extends TokenWebhookFlags, OidcFlags, AuditLogFlags, AuditWebhookFlags {
  encryptionProviderConfig?: string | undefined
  newEncryptionKey?: boolean | undefined
  authenticationConfig?: string | undefined
  tokenAuthFile?: string | undefined
  authorizationConfig?: string | undefined
  enableAdmissionPlugins?: string | undefined
  auditPolicyFile?: string | undefined
}

interface TokenWebhookFlags {
  authenticationTokenWebhookConfigFile?: string | undefined
  authenticationTokenWebhookCacheTtl?: string | undefined
  authenticationTokenWebhookVersion?: string | undefined
}

interface OidcFlags {
  oidcIssuerUrl?: string | undefined
  oidcClientId?: string | undefined
  oidcUsernameClaim?: string | undefined
  oidcUsernamePrefix?: string | undefined
  oidcGroupsClaim?: string | undefined
  oidcGroupsPrefix?: string | undefined
  oidcRequiredClaim?: readonly string[] | undefined
  oidcSigningAlgs?: string | undefined
  oidcCaFile?: string | undefined
}

interface AuditLogFlags {
  auditLogPath?: string | undefined
  auditLogMaxsize?: number | undefined
  auditLogMaxbackup?: number | undefined
  auditLogMaxage?: number | undefined
}

interface AuditWebhookFlags {
  auditWebhookConfigFile?: string | undefined
  auditWebhookBatchMaxSize?: number | undefined
  auditWebhookBatchMaxWait?: string | undefined
  auditWebhookBatchBufferSize?: number | undefined
}

/** Adds them to a role, under kube-apiserver's names. */
export function withAccessOptions(command: Command): Command {
  return command
    .option(
      '--encryption-provider-config <file>',
      'EncryptionConfiguration (default: one with a generated key, in pki/)',
    )
    .option(
      '--new-encryption-key',
      'make a new key if pki/encryption.yaml is lost; Secrets under the old one stay unreadable',
    )
    .option('--authentication-config <file>', 'AuthenticationConfiguration: issuers of tokens')
    .option('--token-auth-file <file>', 'lines of token,user,uid,"groups"')
    .option(
      '--authentication-token-webhook-config-file <kubeconfig>',
      'kubeconfig of a webhook that authenticates tokens (TokenReview)',
    )
    .option('--authentication-token-webhook-cache-ttl <duration>', 'time to keep its answers', '2m')
    .option('--authentication-token-webhook-version <version>', 'v1 or v1beta1', 'v1beta1')
    .option(
      '--authorization-config <file>',
      'AuthorizationConfiguration: the authorizers in their order (default: Node, RBAC)',
    )
    .option('--oidc-issuer-url <url>', 'users of this OpenID Connect issuer')
    .option('--oidc-client-id <id>', 'the audience that its tokens must have')
    .option('--oidc-username-claim <claim>', 'claim with the user name', 'sub')
    .option('--oidc-username-prefix <text>', 'prefix of user names; - for none')
    .option('--oidc-groups-claim <claim>', 'claim with the groups')
    .option('--oidc-groups-prefix <text>', 'prefix of groups')
    .option(
      '--oidc-required-claim <key=value>',
      'a claim that tokens must have (repeatable)',
      (value: string, previous: string[]) => [...previous, value],
      [],
    )
    .option('--oidc-signing-algs <list>', 'accepted algorithms, separated by commas', 'RS256')
    .option('--oidc-ca-file <file>', "authority of the issuer (default: the system's authorities)")
    .option(
      '--enable-admission-plugins <list>',
      'in addition to those that are always on: DenyServiceExternalIPs',
    )
    .option('--audit-policy-file <file>', 'Policy of audit.k8s.io/v1: the events to record')
    .option('--audit-log-path <file>', 'file for audit events (default: audit-events.log)')
    .option('--audit-log-maxsize <megabytes>', 'size of one file', Number, 100)
    .option('--audit-log-maxbackup <number>', 'number of old files to keep', Number, 4)
    .option(
      '--audit-log-maxage <days>',
      'age at which old files are removed (default: never)',
      Number,
    )
    .option(
      '--audit-webhook-config-file <kubeconfig>',
      'kubeconfig of a webhook that receives audit events',
    )
    .option('--audit-webhook-batch-max-size <number>', 'events in one batch', Number, 400)
    .option(
      '--audit-webhook-batch-max-wait <duration>',
      'time to wait for further events of a batch',
      '30s',
    )
    .option('--audit-webhook-batch-buffer-size <number>', 'events that may wait', Number, 10_000)
}

export function accessOptionsOf(flags: AccessFlags): AccessOptions {
  const { authenticationConfig, tokenAuthFile, authorizationConfig, enableAdmissionPlugins } = flags
  return {
    encryption: { providerConfig: flags.encryptionProviderConfig, newKey: flags.newEncryptionKey },
    authenticationConfig,
    tokenAuthFile,
    tokenWebhook: {
      configFile: flags.authenticationTokenWebhookConfigFile,
      cacheTtl: flags.authenticationTokenWebhookCacheTtl,
      version: flags.authenticationTokenWebhookVersion,
    },
    oidc: oidcOf(flags),
    authorizationConfig,
    enableAdmissionPlugins,
    audit: {
      policyFile: flags.auditPolicyFile,
      log: {
        path: flags.auditLogPath,
        maxMegabytes: flags.auditLogMaxsize,
        maxBackups: flags.auditLogMaxbackup,
        maxAgeDays: flags.auditLogMaxage,
      },
      webhook: {
        configFile: flags.auditWebhookConfigFile,
        batchMaxSize: flags.auditWebhookBatchMaxSize,
        batchMaxWait: flags.auditWebhookBatchMaxWait,
        batchBufferSize: flags.auditWebhookBatchBufferSize,
      },
    },
  }
}

function oidcOf(flags: OidcFlags): NonNullable<AccessOptions['oidc']> {
  return {
    issuerUrl: flags.oidcIssuerUrl,
    clientId: flags.oidcClientId,
    usernameClaim: flags.oidcUsernameClaim,
    usernamePrefix: flags.oidcUsernamePrefix,
    groupsClaim: flags.oidcGroupsClaim,
    groupsPrefix: flags.oidcGroupsPrefix,
    requiredClaim: flags.oidcRequiredClaim,
    signingAlgs: flags.oidcSigningAlgs,
    caFile: flags.oidcCaFile,
  }
}
