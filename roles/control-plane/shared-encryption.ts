import {
  readEncryptionConfig,
  type EncryptedStore,
  type EncryptionPlan,
  type KeyFence,
} from '@skerry/apiserver'
import { createBackoff, logFailure } from '@skerry/base'
import { readFileIfPresent, secretMode, writeFileDurably } from '@skerry/bootstrap'
import type { RequiredRevision, Store } from '@skerry/store'
import type { RoleContext } from '../runtime/role-context.ts'
import { controlPlaneBounds } from './limits-table.ts'
import { readSharedKeys, replaceSharedFile, sharedKeysRecord } from './shared-keys.ts'

export interface SharedEncryptionPlace {
  readonly store: Store
  readonly directory: string
  /** The file of the keys, which is this server's copy of what is in the record. */
  readonly path: string
}

/** The way in which keys are put to use: at once and as a whole. */
export interface KeyUse {
  readonly replace: (plan: EncryptionPlan, setPlan: () => void) => Promise<void>
  readonly setPlan: EncryptedStore['setPlan']
  /** Called when other values may have become readable. */
  readonly onKeys: (text: string) => Promise<void>
}

const name = 'encryption.yaml'
const { lookMs, retry } = controlPlaneBounds.sharedEncryption
const following = {
  subject: 'Shared keys',
  message: 'Shared keys of encryption not followed, trying again',
}

/**
 * The keys of encryption at rest that several servers share. The record in the store is what counts: each server uses
 * what it read there, and its encrypted writes apply only as long as the record is the same. A change of the file at one
 * of them goes into the record, and from there to all.
 */
export class SharedEncryption implements KeyFence {
  readonly #place: SharedEncryptionPlace
  readonly #context: RoleContext
  #use: KeyUse | undefined
  #text: string
  /** The content that this server last wrote to the file or found there: other content is somebody's change. */
  #inFile: string
  #revision = 0
  #renewing: Promise<void> | undefined

  constructor(place: SharedEncryptionPlace, text: string, context: RoleContext) {
    this.#place = place
    this.#text = text
    this.#inFile = text
    this.#context = context
  }

  required(): RequiredRevision | undefined {
    if (this.#revision === 0) return undefined
    return { key: sharedKeysRecord, revision: this.#revision }
  }

  /** Call this before anything is written, when the record is there. */
  async begin(use: KeyUse): Promise<void> {
    this.#use = use
    await this.renew()
  }

  /** Callers at the same time share one look. */
  renew(): Promise<void> {
    this.#renewing ??= this.#adopt().finally(() => (this.#renewing = undefined))
    return this.#renewing
  }

  /** Follows the record and the file until the signal aborts. */
  async follow(signal: AbortSignal): Promise<never> {
    const { clock, random, log } = this.#context
    const backoff = createBackoff(retry, random)
    for (;;) {
      try {
        await this.#publishFile()
        await this.renew()
        await this.#writeFile()
        backoff.reset()
        await clock.sleep(lookMs, signal)
      } catch (error) {
        signal.throwIfAborted()
        logFailure(log, { ...following, error })
        await clock.sleep(backoff.nextMs(), signal)
      }
    }
  }

  async #adopt(): Promise<void> {
    const { store, directory } = this.#place
    const shared = await readSharedKeys(store, directory)
    const text = shared?.files[name]
    if (shared === undefined || text === undefined || shared.revision <= this.#revision) return
    if (text === this.#text) {
      this.#revision = shared.revision
      return
    }
    const plan = await readEncryptionConfig(text, this.#context)
    await this.#use?.replace(plan, () => {
      this.#use?.setPlan(plan)
      this.#text = text
      this.#revision = shared.revision
    })
    this.#context.log.info('Keys of encryption at rest have changed', { path: this.#place.path })
    await this.#use?.onKeys(text)
  }

  /** A full disk keeps nobody from using the keys; the next start reads them from the record. */
  async #writeFile(): Promise<void> {
    if (this.#inFile === this.#text) return
    const text = this.#text
    await writeFileDurably(this.#place.path, text, secretMode)
    this.#inFile = text
  }

  async #publishFile(): Promise<void> {
    const { store, directory, path } = this.#place
    const text = await readFileIfPresent(path)
    if (text === undefined || text === this.#inFile || text === this.#text) return
    // Refuses keys that nobody could read.
    await readEncryptionConfig(text, this.#context)
    const known = await readSharedKeys(store, directory)
    // A change by another server is used first.
    if (known === undefined || known.revision !== this.#revision) return
    if (await replaceSharedFile(store, directory, { known, name, text })) this.#inFile = text
  }
}
