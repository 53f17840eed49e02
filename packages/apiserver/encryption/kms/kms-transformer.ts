import { randomBytes, randomUUID } from 'node:crypto'
import { messageOf, RecentMap, type Clock, type Logger } from '@skerry/base'
import { createAesGcm } from '../transformers/aes-transformers.ts'
import { UnreadableValueError, type Transformer } from '../transformers/transformer.ts'
import { readMessage, textOf, writeMessage } from './kms-messages.ts'
import type { KmsCiphertext, KmsPlugin, KmsStatus } from './kms-plugin.ts'
import { createSeedCipher, seedBytes, type DataCipher } from './seed-cipher.ts'
import { kmsLimits } from '../../limits-table.ts'

export interface KmsTransformer extends Transformer, Disposable {
  readonly name: string
  /** Returns the plugin's problem, or undefined if there is none. */
  readonly problem: () => string | undefined
  /** Checks the plugin. Resolves to true if it has become usable by this. Never rejects. */
  look(): Promise<boolean>
  /** Checks it at intervals until the signal aborts, and waits for `onRecovered` each time it became usable. */
  follow(onRecovered: () => Promise<void>, signal: AbortSignal): Promise<never>
}

interface KmsDeps {
  readonly clock: Clock
  readonly log: Logger
}

interface Seed {
  readonly cipher: DataCipher
  readonly sealed: KmsCiphertext
  expiresAtMs: number
}

/** The source of a value's key: a key itself, or a seed. */
const keyType = 0
const seedType = 1
const annotationsField = 4

/** Encrypts values here, with seeds that only the plugin can open (KMS v2). */
export function createKmsTransformer(
  name: string,
  plugin: KmsPlugin,
  deps: KmsDeps,
): KmsTransformer {
  return new PluggedTransformer(name, plugin, deps)
}

class PluggedTransformer implements KmsTransformer {
  readonly name: string
  readonly prefix: string
  readonly #plugin: KmsPlugin
  readonly #clock: Clock
  readonly #log: Logger
  /** Ciphers by the seed that sealed the value. A text is the reason why a seed cannot be opened now. */
  readonly #ciphers = new RecentMap<string, DataCipher | string>(kmsLimits.ciphersMax)
  /** Many values of one seed ask the plugin once. */
  readonly #fetching = new Map<string, Promise<void>>()
  #seed: Seed | undefined
  #problem: string | undefined = 'the plugin has not answered yet'
  #isClosed = false

  constructor(name: string, plugin: KmsPlugin, { clock, log }: KmsDeps) {
    this.name = name
    this.prefix = `k8s:enc:kms:v2:${name}:`
    this.#plugin = plugin
    this.#clock = clock
    this.#log = log
  }

  readonly problem = (): string | undefined => this.#problem

  async look(): Promise<boolean> {
    const before = this.#problem
    try {
      await this.#ask()
      this.#problem = undefined
    } catch (error) {
      this.#problem = messageOf(error)
    }
    if (this.#isClosed) return false
    if (before !== this.#problem && this.#problem !== undefined) {
      this.#log.error('KMS plugin unhealthy', { provider: this.name, problem: this.#problem })
    }
    const isBack = before !== undefined && this.#problem === undefined
    if (isBack) this.#log.info('KMS plugin healthy', { provider: this.name })
    return isBack
  }

  async follow(onRecovered: () => Promise<void>, signal: AbortSignal): Promise<never> {
    const { healthyLookMs, unhealthyLookMs } = kmsLimits
    for (;;) {
      const waitMs = this.#problem === undefined ? healthyLookMs : unhealthyLookMs
      await this.#clock.sleep(waitMs, signal)
      if (await this.look()) await onRecovered()
    }
  }

  seal(value: Uint8Array, context: string): Uint8Array {
    const seed = this.#seed
    if (!seed) throw new Error(`Cannot encrypt with KMS ${this.name}: ${this.#problem ?? 'no key'}`)
    if (this.#clock.monotonicMs() > seed.expiresAtMs) {
      throw new Error(`Cannot encrypt with KMS ${this.name}: its key has expired: ${this.#problem}`)
    }
    const { ciphertext, keyId, annotations } = seed.sealed
    const data = seed.cipher.seal(value, context)
    return writeMessage({ 1: data, 2: keyId, 3: ciphertext, 4: annotations, 5: seedType })
  }

  open(sealed: Uint8Array, context: string): Uint8Array {
    const { data, source } = parseSealed(sealed)
    const cipher = this.#ciphers.get(cipherKey(source))
    if (cipher === undefined || typeof cipher === 'string') {
      throw new UnreadableValueError(`failed to decrypt DEK, error: ${cipher ?? 'not asked yet'}`)
    }
    return cipher.open(data, context)
  }

  readonly fetch = (sealed: Uint8Array): Promise<void> | undefined => {
    const { source, type } = tryParse(sealed)
    if (!source) return undefined
    const key = cipherKey(source)
    if (typeof this.#ciphers.get(key) === 'object') return undefined
    const fetching =
      this.#fetching.get(key) ??
      this.#decrypt(source, type).finally(() => void this.#fetching.delete(key))
    this.#fetching.set(key, fetching)
    return fetching
  }

  readonly isStale = (sealed: Uint8Array): boolean => {
    const { source, type } = tryParse(sealed)
    return source?.keyId !== this.#seed?.sealed.keyId || type !== seedType
  };

  [Symbol.dispose](): void {
    this.#isClosed = true
    this.#plugin[Symbol.dispose]()
  }

  async #ask(): Promise<void> {
    const status = await this.#plugin.status()
    checkStatus(status)
    if (this.#seed?.sealed.keyId !== status.keyId) await this.#renewSeed(status)
    if (this.#seed) {
      this.#seed.expiresAtMs = this.#clock.monotonicMs() + kmsLimits.seedLivesMs
    }
  }

  async #renewSeed({ keyId }: KmsStatus): Promise<void> {
    const seed = randomBytes(seedBytes)
    const sealed = await this.#plugin.encrypt(seed, randomUUID())
    if (sealed.keyId !== keyId) throw new Error('key ID of encrypt and of status differ')
    if (sealed.ciphertext.length === 0) throw new Error('encrypted DEK source is empty')
    if (sealed.ciphertext.length > kmsLimits.ciphertextBytesMax) {
      throw new Error(
        `encrypted DEK source is ${sealed.ciphertext.length} bytes, which exceeds the max size of ${kmsLimits.ciphertextBytesMax}`,
      )
    }
    const cipher = createSeedCipher(seed)
    this.#ciphers.set(cipherKey(sealed), cipher)
    this.#seed = { cipher, sealed, expiresAtMs: 0 }
    this.#log.info('KMS key in use', { provider: this.name })
  }

  async #decrypt(source: KmsCiphertext, type: number): Promise<void> {
    const key = cipherKey(source)
    try {
      const secret = await this.#plugin.decrypt(source, randomUUID())
      const cipher =
        type === seedType ? createSeedCipher(secret) : createAesGcm({ name: '', secret })
      this.#ciphers.set(key, cipher)
    } catch (error) {
      this.#ciphers.set(key, messageOf(error))
    }
  }
}

function checkStatus({ version, health, keyId }: KmsStatus): void {
  if (health !== 'ok') throw new Error(`got unexpected healthz status: ${health}`)
  if (version !== 'v2' && version !== 'v2beta1') {
    throw new Error(`unsupported version ${JSON.stringify(version)}, expected "v2" or "v2beta1"`)
  }
  if (keyId === '') throw new Error('keyID is empty')
  if (keyId.length > kmsLimits.keyIdBytesMax) throw new Error('keyID is too long')
}

/** Parses the value behind the prefix (upstream's EncryptedObject). */
function parseSealed(sealed: Uint8Array) {
  const { source, data, type } = tryParse(sealed)
  if (!source || data.length === 0) throw new UnreadableValueError('encrypted data is empty')
  if (type !== keyType && type !== seedType) {
    throw new UnreadableValueError(`unknown encryptedDEKSourceType: ${type}`)
  }
  return { source, data }
}

function tryParse(sealed: Uint8Array): {
  source?: KmsCiphertext
  data: Uint8Array
  type: number
} {
  try {
    const { bytes, numbers, annotations } = readMessage(sealed, annotationsField)
    const ciphertext = bytes.get(3) ?? new Uint8Array(0)
    const source = { ciphertext, keyId: textOf(bytes.get(2)), annotations }
    return { source, data: bytes.get(1) ?? new Uint8Array(0), type: numbers.get(5) ?? keyType }
  } catch {
    // The parser reports the position; a reader of the object only needs to know that it is
    // damaged.
    return { data: new Uint8Array(0), type: keyType }
  }
}

function cipherKey({ ciphertext, keyId, annotations }: KmsCiphertext): string {
  const parts = [...annotations].flatMap(([name, value]) => [name, hex(value)])
  return JSON.stringify([hex(ciphertext), keyId, parts])
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
