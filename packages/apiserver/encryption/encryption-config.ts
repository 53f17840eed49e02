import { parseDurationMs } from '@skerry/api'
import {
  abortReason,
  linkedSignal,
  runAll,
  whenAborted,
  type Clock,
  type Logger,
} from '@skerry/base'
import { configError, parseConfig, type ConfigOf } from '../config-file/config-shape.ts'
import { createAesCbc, createAesGcm, type NamedKey } from './transformers/aes-transformers.ts'
import {
  chainTransformers,
  identityTransformer,
  type TransformerChain,
} from './transformer-chain.ts'
import type { KmsTransformer } from './kms/kms-transformer.ts'
import type { Transformer } from './transformers/transformer.ts'

const kind = 'EncryptionConfiguration'
const keys = {
  fields: { keys: { list: { fields: { name: 'string', secret: 'string' } } } },
} as const
const kms = {
  fields: {
    apiVersion: 'string',
    name: 'string',
    cachesize: 'number',
    endpoint: 'string',
    timeout: 'string',
  },
} as const
const provider = {
  fields: { aesgcm: keys, aescbc: keys, secretbox: keys, identity: { fields: {} }, kms },
} as const
const resources = {
  list: { fields: { resources: { list: 'string' }, providers: { list: provider } } },
} as const

type Provider = ConfigOf<typeof provider>
type Keys = ConfigOf<typeof keys>

/** Maps resources to their encryption, by the storage key of a resource, e.g. `core/secrets`. */
export interface EncryptionPlan extends Disposable {
  /** Returns undefined if values of this resource are stored unencrypted. */
  chainFor(storage: string): TransformerChain | undefined
  /** True if a KMS plugin holds some keys. */
  readonly isRemote: boolean
  /** Checks every KMS plugin. Resolves to true if more values may be readable than before. Never rejects. */
  look(): Promise<boolean>
  /**
   * Checks them at intervals until the plan is disposed of or the signal aborts, and then resolves. Waits for
   * `onRecovered` each time more values may be readable.
   */
  follow(onRecovered: () => Promise<void>, signal: AbortSignal): Promise<void>
  /** Returns the problems of KMS plugins, one text each. */
  problems(): string[]
}

export interface EncryptionDeps {
  readonly clock: Clock
  readonly log: Logger
}

/** KMS providers by name. Resources that use the same one share it. */
type KmsProviders = Map<string, KmsTransformer>

interface PlanRule {
  readonly matches: (group: string, resource: string) => boolean
  readonly chain: TransformerChain
}

/** Reads upstream's apiserver.config.k8s.io/v1 EncryptionConfiguration. Throws ExpectedError. */
export async function readEncryptionConfig(
  text: string,
  deps: EncryptionDeps,
): Promise<EncryptionPlan> {
  const config = parseConfig(text, {
    kind,
    apiVersions: ['apiserver.config.k8s.io/v1'],
    fields: { resources },
  })
  if (!config.resources?.length) throw refusal('resources', 'at least one resources is required')
  const providers: KmsProviders = new Map()
  const rules: PlanRule[] = []
  const named: string[] = []
  for (const [at, entry] of config.resources.entries()) {
    const path = `resources[${at}]`
    if (!entry.resources?.length) {
      throw refusal(`${path}.resources`, `at least one ${path}.resources is required`)
    }
    if (!entry.providers?.length) {
      throw refusal(`${path}.providers`, `at least one ${path}.providers is required`)
    }
    const transformers: Transformer[] = []
    for (const [index, each] of entry.providers.entries()) {
      transformers.push(
        ...(await transformersOf(each, `${path}.providers[${index}]`, { providers, deps })),
      )
    }
    const chain = chainTransformers(transformers)
    for (const text of entry.resources) {
      checkName(text, named, `${path}.resources`)
      named.push(text)
      rules.push({ matches: matcherOf(text), chain })
    }
  }
  return planOf(rules, providers)
}

function planOf(rules: readonly PlanRule[], providers: KmsProviders): EncryptionPlan {
  const known = new Map<string, TransformerChain | undefined>()
  const disposed = new AbortController()
  return {
    chainFor(storage) {
      if (known.has(storage)) return known.get(storage)
      const [group = '', resource = ''] = storage.split('/')
      const rule = rules.find(({ matches }) => matches(group === 'core' ? '' : group, resource))
      known.set(storage, rule?.chain)
      return rule?.chain
    },
    isRemote: providers.size > 0,
    async look() {
      const looks = await Promise.all([...providers.values()].map((each) => each.look()))
      return looks.includes(true)
    },
    async follow(onRecovered, signal) {
      using scope = linkedSignal(signal)
      whenAborted(disposed.signal, () => scope.abort(disposed.signal.reason))
      await runAll(scope.signal, [
        untilAborted,
        ...[...providers.values()].map(
          (each) => (inner: AbortSignal) => each.follow(onRecovered, inner),
        ),
      ])
    },
    problems: () =>
      [...providers.values()].flatMap((each) => {
        const problem = each.problem()
        return problem === undefined ? [] : [`${each.name}: ${problem}`]
      }),
    [Symbol.dispose]() {
      disposed.abort(new Error('The plan is not in use any more'))
      for (const each of providers.values()) each[Symbol.dispose]()
    },
  }
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => whenAborted(signal, () => reject(abortReason(signal))))
}

function matcherOf(text: string): PlanRule['matches'] {
  if (text === '*.*') return () => true
  const dot = text.indexOf('.')
  const name = dot < 0 ? text : text.slice(0, dot)
  const wanted = dot < 0 ? '' : text.slice(dot + 1)
  return (group, resource) => group === wanted && (name === '*' || resource === name)
}

/** Refuses an invalid resource name, and one that an earlier rule covers entirely. */
function checkName(text: string, earlier: readonly string[], path: string): void {
  const dot = text.indexOf('.')
  const group = dot < 0 ? '' : text.slice(dot + 1)
  if (text === '*') {
    throw refusal(
      path,
      "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources",
    )
  }
  if (/[A-Z]/.test(text)) throw refusal(path, 'resource name should not contain capital letters')
  if (group === 'events.k8s.io') {
    throw refusal(
      path,
      "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file",
    )
  }
  for (const masking of [text, `*.${group}`, '*.*']) {
    if (!earlier.includes(masking)) continue
    throw refusal(
      path,
      `resource ${JSON.stringify(text)} is masked by earlier rule ${JSON.stringify(masking)}`,
    )
  }
}

async function transformersOf(
  each: Provider,
  path: string,
  kmsParts: { providers: KmsProviders; deps: EncryptionDeps },
): Promise<Transformer[]> {
  const names = Object.keys(each)
  if (names.length !== 1) {
    throw refusal(
      path,
      names.length === 0
        ? 'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity'
        : 'more than one provider specified in a single element, should split into different list elements',
    )
  }
  const aes = [16, 24, 32]
  if (each.aesgcm) return readKeys(each.aesgcm, `${path}.aesgcm`, aes).map(createAesGcm)
  if (each.aescbc) return readKeys(each.aescbc, `${path}.aescbc`, aes).map(createAesCbc)
  if (each.secretbox) {
    const { createSecretbox } = await import('./transformers/secretbox-transformer.ts')
    return readKeys(each.secretbox, `${path}.secretbox`, [32]).map(createSecretbox)
  }
  if (each.kms) return [await kmsOf(each.kms, `${path}.kms`, kmsParts)]
  return [identityTransformer]
}

async function kmsOf(
  given: ConfigOf<typeof kms>,
  path: string,
  { providers, deps }: { providers: KmsProviders; deps: EncryptionDeps },
): Promise<Transformer> {
  const { apiVersion = 'v1', name = '', endpoint = '', timeout = '3s', cachesize } = given
  if (apiVersion !== 'v2') {
    throw refusal(`${path}.apiVersion`, `Unsupported value: ${JSON.stringify(apiVersion)}: use v2`)
  }
  if (name === '') throw refusal(`${path}.name`, 'Required value: name is a required field')
  if (name.includes(':')) {
    throw refusal(`${path}.name`, "should not contain ':' character")
  }
  if (providers.has(name)) {
    throw refusal(
      `${path}.name`,
      `Invalid value: ${JSON.stringify(name)}: duplicate KMS provider name`,
    )
  }
  if (cachesize !== undefined) {
    throw refusal(`${path}.cachesize`, 'cachesize is not supported in v2')
  }
  if (!endpoint.startsWith('unix:///')) {
    throw refusal(`${path}.endpoint`, 'endpoint must be unix:///path/to/socket')
  }
  const timeoutMs = parseDurationMs(timeout)
  if (timeoutMs === undefined || timeoutMs <= 0) {
    throw refusal(`${path}.timeout`, 'timeout should be a positive value')
  }
  const [{ openKmsPlugin }, { createKmsTransformer }] = await Promise.all([
    import('./kms/kms-plugin.ts'),
    import('./kms/kms-transformer.ts'),
  ])
  const transformer = createKmsTransformer(name, openKmsPlugin(endpoint, timeoutMs), deps)
  providers.set(name, transformer)
  return transformer
}

function readKeys(given: Keys, path: string, sizes: readonly number[]): NamedKey[] {
  if (!given.keys?.length) throw refusal(`${path}.keys`, `at least one ${path}.keys is required`)
  return given.keys.map(({ name = '', secret = '' }, at) => {
    const place = `${path}.keys[${at}]`
    if (name === '') throw refusal(`${place}.name`, 'name is a mandatory field for a key')
    if (secret === '') throw refusal(`${place}.secret`, 'secret is a mandatory field for a key')
    const bytes = Buffer.from(secret, 'base64')
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(secret)) {
      throw refusal(`${place}.secret`, 'secrets must be base64 encoded')
    }
    if (!sizes.includes(bytes.length)) {
      throw refusal(
        `${place}.secret`,
        `secret is not of the expected length, got ${bytes.length}, expected one of [${sizes.join(' ')}]`,
      )
    }
    return { name, secret: bytes }
  })
}

function refusal(path: string, reason: string) {
  return configError(kind, `${path}: ${reason}`)
}
