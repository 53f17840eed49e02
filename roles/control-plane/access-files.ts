import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { loadExpressions } from '@skerry/kinds'
import {
  createConfiguredUsers,
  followFile,
  optionalPluginNames,
  readAuthenticationConfig,
  readEncryptionConfig,
  type AuditTrail,
  type AuthenticationConfig,
  type ConfiguredUsers,
  type EncryptedStore,
} from '@skerry/apiserver'
import { ExpectedError, exitCodes, type Task } from '@skerry/base'
import { readFileIfPresent, secretMode, writeFileDurably } from '@skerry/bootstrap'
import type { Store } from '@skerry/store'
import { readText, wrongUse } from '../runtime/read-config-file.ts'
import type { RoleContext } from '../runtime/role-context.ts'
import type { AccessOptions, EncryptionOptions, OidcOptions } from './access-options.ts'
import type { AccessWebhooks } from './access-webhooks.ts'
import { useEncryption } from './encryption-in-use.ts'
import { encryptionConfigOf } from './encryption-keys.ts'
import { lookAfter } from './key-plugins.ts'
import { openAudit } from './open-audit.ts'
import { requireReadable } from './readable-secrets.ts'
import { controlPlaneBounds } from './limits-table.ts'

/** The content of a control plane's configuration files, kept current while it runs. */
export interface AccessFiles extends AsyncDisposable {
  readonly configuredUsers?: ConfiguredUsers
  readonly tokenFile?: string
  readonly enabledPlugins: readonly string[]
  readonly webhooks?: AccessWebhooks
  readonly auditTrail?: AuditTrail
  /** The store with encryption between it and the server. */
  readonly store: EncryptedStore
  /** Throws an error about plugins that hold keys. If omitted, there are no such plugins. */
  readonly checkKeyPlugins?: () => Promise<void>
  /** Call this once the keys are shared, before anything is written. */
  useSharedKeys(): Promise<void>
  /** Follows the files; `onKeys` is called when other values may have become readable. */
  follow(onKeys: () => Promise<void>): readonly Task[]
}

const { lookMs } = controlPlaneBounds.accessFiles

export interface AccessFilesOptions extends AccessOptions {
  /** True if other servers have the same keys of encryption at rest. */
  readonly isShared?: boolean
}

/** Reads and checks everything before anything runs. Throws ExpectedError. */
export async function openAccessFiles(
  directory: string,
  options: AccessFilesOptions,
  context: RoleContext,
  inner: Store,
): Promise<AccessFiles> {
  await using stack = new AsyncDisposableStack()
  const keys = await openKeys(directory, options.encryption ?? {}, { context, store: inner })
  const plugins = stack.use(await lookAfter(keys.plan))
  const users = await openUsers(options)
  const configuredUsers = users && createConfiguredUsers(users.config, context.clock)
  const tokenFile = options.tokenAuthFile && (await readText(options.tokenAuthFile))
  const webhooks = await openWebhooks(options, { context, stack })
  const enabledPlugins = pluginNames(options.enableAdmissionPlugins)
  const audit = stack.use(await openAudit(directory, options.audit ?? {}, context))
  const isShared = options.isShared === true && options.encryption?.providerConfig === undefined
  const sharing = { plugins, sharedIn: isShared ? directory : undefined }
  const encryption = useEncryption(inner, keys, sharing, context)
  const owned = stack.move()
  return {
    ...(configuredUsers ? { configuredUsers } : {}),
    ...(tokenFile ? { tokenFile } : {}),
    enabledPlugins,
    ...(webhooks ? { webhooks } : {}),
    ...(audit.trail ? { auditTrail: audit.trail } : {}),
    store: encryption.store,
    ...(keys.plan.isRemote ? { checkKeyPlugins: plugins.check } : {}),
    useSharedKeys: () => encryption.useShared(),
    follow: (onKeys) => [
      (signal) => plugins.follow(onKeys, signal),
      encryption.follow(onKeys),
      ...(users?.path !== undefined && configuredUsers
        ? [followUsers({ path: users.path, text: users.text }, configuredUsers, context)]
        : []),
      ...(webhooks?.follow(lookMs) ?? []),
      ...audit.tasks,
    ],
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function pluginNames(list: string = ''): string[] {
  const names = list.split(',').map((name) => name.trim())
  const wanted = names.filter((name) => name !== '')
  const unknown = wanted.find((name) => !optionalPluginNames.includes(name))
  if (unknown === undefined) return wanted
  const known = optionalPluginNames.join(', ')
  throw wrongUse(
    `admission plugin ${JSON.stringify(unknown)} is on already, or not known; use ${known}`,
  )
}

function followUsers(
  file: { path: string; text: string },
  users: ConfiguredUsers,
  { clock, log }: RoleContext,
): Task {
  const onText = async (text: string): Promise<void> =>
    users.setConfig(readAuthenticationConfig(text))
  return (signal) => followFile({ ...file, lookMs }, onText, { clock, log }, signal)
}

/** Imported only if webhooks are configured: their conditions are expressions, whose code is large. */
async function openWebhooks(
  options: AccessOptions,
  { context, stack }: { context: RoleContext; stack: AsyncDisposableStack },
): Promise<AccessWebhooks | undefined> {
  const { tokenWebhook, authorizationConfig } = options
  if ((tokenWebhook?.configFile ?? authorizationConfig) === undefined) return undefined
  const { openAccessWebhooks } = await import('./access-webhooks.ts')
  return stack.use(await openAccessWebhooks(options, context))
}

/** Opens the encryption keys. A first start creates its own key: Secrets are encrypted by default. */
async function openKeys(
  directory: string,
  { providerConfig, newKey = false }: EncryptionOptions,
  { context, store }: { context: RoleContext; store: Store },
) {
  const path = providerConfig ?? ownKeysPath(directory)
  if (providerConfig !== undefined) {
    const text = await readText(path)
    return { path, text, plan: await readEncryptionConfig(text, context) }
  }
  const found = await readFileIfPresent(path)
  const text =
    found ?? encryptionConfigOf([{ name: 'key1', secret: randomBytes(32).toString('base64') }])
  const plan = await readOwnKeys(path, text, context)
  // This comes before a new key is written, because that would hide that the old one is missing.
  if (!newKey) {
    await requireReadable(store, plan, { path, isFound: found !== undefined })
  }
  if (found === undefined) await writeFileDurably(path, text, secretMode)
  return { path, text, plan }
}

async function readOwnKeys(path: string, text: string, context: RoleContext) {
  try {
    return await readEncryptionConfig(text, context)
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error
    throw new ExpectedError(
      `Cannot start: ${path} is damaged: ${error.message}; restore it from a backup; if there is none, move it away and pass --new-encryption-key, which gives up the Secrets in the store`,
      exitCodes.dataDirectory,
      { cause: error },
    )
  }
}

export function ownKeysPath(directory: string): string {
  return join(directory, 'pki', 'encryption.yaml')
}

interface UserFile {
  config: AuthenticationConfig
  path?: string
  text: string
}

async function openUsers({
  authenticationConfig: path,
  oidc = {},
}: AccessOptions): Promise<UserFile | undefined> {
  const { issuerUrl } = oidc
  if (path === undefined && issuerUrl === undefined) return undefined
  await loadExpressions()
  if (path !== undefined && issuerUrl !== undefined) {
    throw wrongUse('--authentication-config and --oidc-issuer-url exclude each other')
  }
  if (path !== undefined) {
    const text = await readText(path)
    return { config: readAuthenticationConfig(text), path, text }
  }
  if (issuerUrl === undefined) return undefined
  return { config: await configOfIssuer({ ...oidc, issuerUrl }), text: '' }
}

/** Returns the content of a file with this issuer alone. */
async function configOfIssuer(
  oidc: OidcOptions & { issuerUrl: string },
): Promise<AuthenticationConfig> {
  const { issuerUrl: url, clientId, usernameClaim: claim = 'sub' } = oidc
  if (!clientId) throw wrongUse('--oidc-issuer-url needs --oidc-client-id')
  const ca = oidc.caFile === undefined ? undefined : await readText(oidc.caFile)
  // Names that the issuer makes must not meet those of the cluster; mail addresses cannot.
  const prefixDefault = claim === 'email' ? '' : `${url}#`
  const prefix = oidc.usernamePrefix ?? prefixDefault
  const document = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: {
          url,
          audiences: [clientId],
          ...(ca === undefined ? {} : { certificateAuthority: ca }),
        },
        claimMappings: {
          username: { claim, prefix: prefix === '-' ? '' : prefix },
          ...(oidc.groupsClaim
            ? { groups: { claim: oidc.groupsClaim, prefix: oidc.groupsPrefix ?? '' } }
            : {}),
        },
        claimValidationRules: (oidc.requiredClaim ?? []).map((text) => {
          const [name = '', ...value] = text.split('=')
          return { claim: name, requiredValue: value.join('=') }
        }),
      },
    ],
  }
  const { jwt } = readAuthenticationConfig(JSON.stringify(document))
  const signingAlgorithms = (oidc.signingAlgs ?? 'RS256').split(',')
  return { jwt: jwt.map((each) => ({ ...each, signingAlgorithms })) }
}
