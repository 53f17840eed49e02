import { StatusError, isJsonObject, isStatusError, type AnyObject } from '@skerry/api'
import type { Objects } from '@skerry/apiserver'
import type { Clock } from '@skerry/base'
import { consoleBounds } from '../limits-table.ts'
import {
  createSecret,
  dataOf,
  idOf,
  isSecret,
  readRecord,
  recordName,
  sealSource,
  secretOf,
  sessionsNamespace,
  unsealSource,
  type RecordKind,
  type SessionRecord,
  type SessionSource,
} from './session-record.ts'

export interface SessionStoreDeps {
  readonly objects: Objects
  /** The same for each replica of the hub, and known to no user. */
  readonly hubKey: Uint8Array
  readonly clock: Pick<Clock, 'now'>
}

export interface KnownSession {
  readonly record: SessionRecord
  readonly source: SessionSource
}

export interface BegunSession {
  readonly secret: string
  readonly record: SessionRecord
}

type Named = SessionRecord['user']

const secrets = Object.freeze({ group: '', resource: 'secrets' })
const bounds = consoleBounds.sessions

/**
 * Keeps sessions and login codes as Secrets, so that every replica of the hub knows them. The text of a cookie or a
 * code is never stored.
 */
export class SessionStore {
  readonly #objects: Objects
  readonly #hubKey: Uint8Array
  readonly #clock: Pick<Clock, 'now'>
  readonly #read = new WeakMap<AnyObject, SessionRecord | undefined>()
  readonly #opened = new WeakMap<SessionRecord, SessionSource>()
  readonly #touching = new Set<string>()

  constructor({ objects, hubKey, clock }: SessionStoreDeps) {
    this.#objects = objects
    this.#hubKey = hubKey
    this.#clock = clock
  }

  /** Begins a session. A user with too many loses the one that was used longest ago. */
  async begin(source: SessionSource, user: Named, address: string): Promise<BegunSession> {
    await this.#makeRoom('session', user.name)
    return await this.#create('session', source, { user, address, by: kindOf(source) })
  }

  /** Makes a code with which one session of this user can begin. */
  async createCode(source: SessionSource, user: Named): Promise<BegunSession> {
    await this.#makeRoom('code', user.name)
    return await this.#create('code', source, { user })
  }

  /** Uses up a code. Resolves to undefined if there is none, or somebody else has used it. */
  async takeCode(code: string): Promise<KnownSession | undefined> {
    const known = this.#find('code', code)
    if (!known) return undefined
    let isMine = false
    // A write, because two deletions at once both succeed.
    await this.#write('code', known.record.id, (object) => {
      const { taken, ...data } = dataIn(object)
      isMine = taken === undefined
      object['data'] = { ...data, taken: '' }
      return isMine
    })
    if (isMine) await this.#remove('code', known.record.id)
    return isMine ? known : undefined
  }

  /** Returns the session of this cookie if it goes on. */
  find(secret: string): KnownSession | undefined {
    return this.#find('session', secret)
  }

  /** Lists the sessions that go on. */
  open(): SessionRecord[] {
    return this.#all().filter((record) => record.kind === 'session' && !this.#isOver(record))
  }

  /** Notes a use, at most once a minute. */
  async touch({ id, usedAtMs }: SessionRecord): Promise<void> {
    const nowMs = this.#clock.now()
    if (nowMs - usedAtMs < bounds.touchMs || this.#touching.has(id)) return
    this.#touching.add(id)
    try {
      await this.#change(id, (record) => ({ ...record, usedAtMs: nowMs }))
    } finally {
      this.#touching.delete(id)
    }
  }

  /** Replaces the credential of a session, e.g. by a renewed token. */
  async renew(secret: string, source: SessionSource): Promise<void> {
    const sealed = sealSource(source, 'session', secret)
    await this.#change(idOf(secret), (record) => ({ ...record, sealed }))
  }

  async end(id: string): Promise<void> {
    await this.#remove('session', id)
  }

  /** Removes everything that has expired. */
  async sweep(): Promise<void> {
    for (const record of this.#all()) {
      if (!this.#isOver(record)) continue
      await this.#remove(record.kind, record.id)
    }
  }

  #find(kind: RecordKind, secret: string): KnownSession | undefined {
    if (!isSecret(secret)) return undefined
    const name = recordName(kind, idOf(secret))
    const object = this.#objects.get(secrets, sessionsNamespace, name)
    const record = object && this.#recordOf(object)
    if (!record || record.kind !== kind || this.#isOver(record)) return undefined
    const source = this.#opened.get(record) ?? unsealSource(record, secret)
    if (!source) return undefined
    this.#opened.set(record, source)
    return { record, source }
  }

  #recordOf(object: AnyObject): SessionRecord | undefined {
    if (this.#read.has(object)) return this.#read.get(object)
    const record = readRecord(object, this.#hubKey)
    this.#read.set(object, record)
    return object.metadata.deletionTimestamp === undefined ? record : undefined
  }

  #isOver({ kind, expiresAtMs, usedAtMs }: SessionRecord): boolean {
    const nowMs = this.#clock.now()
    return nowMs >= expiresAtMs || (kind === 'session' && nowMs - usedAtMs >= bounds.idleMs)
  }

  #all(): SessionRecord[] {
    const objects = this.#objects.list(secrets, sessionsNamespace)
    return objects.flatMap((object) => this.#recordOf(object) ?? [])
  }

  async #makeRoom(kind: RecordKind, user: string): Promise<void> {
    const [perUserMax, inAllMax] =
      kind === 'session'
        ? [bounds.perUserMax, bounds.inAllMax]
        : [bounds.codesPerUserMax, bounds.codesInAllMax]
    const all = this.#all().filter((each) => each.kind === kind && !this.#isOver(each))
    const own = all.filter((each) => each.user.name === user)
    const tooMany = own
      .toSorted((one, other) => one.usedAtMs - other.usedAtMs)
      .slice(0, Math.max(0, own.length - perUserMax + 1))
    for (const { id } of tooMany) await this.#remove(kind, id)
    if (all.length - tooMany.length < inAllMax) return
    const text = `Cannot log in: the hub has ${inAllMax} ${kind}s, which is its limit`
    throw new StatusError('TooManyRequests', text, { details: { retryAfterSeconds: 60 } })
  }

  async #create(
    kind: RecordKind,
    source: SessionSource,
    shown: Pick<SessionRecord, 'user' | 'address' | 'by'>,
  ): Promise<BegunSession> {
    await this.#ensureNamespace()
    const secret = createSecret()
    const nowMs = this.#clock.now()
    const record: SessionRecord = {
      kind,
      id: idOf(secret),
      ...shown,
      createdAtMs: nowMs,
      usedAtMs: nowMs,
      expiresAtMs: nowMs + (kind === 'session' ? bounds.lifetimeMs : bounds.codeMs),
      sealed: sealSource(source, kind, secret),
    }
    await this.#objects.create(secrets, secretOf(record, this.#hubKey))
    return { secret, record }
  }

  async #change(id: string, changed: (record: SessionRecord) => SessionRecord): Promise<void> {
    await this.#write('session', id, (object) => {
      const record = readRecord(object, this.#hubKey)
      if (!record) return false
      object['data'] = dataOf(changed(record), this.#hubKey)
      return true
    })
  }

  async #write(
    kind: RecordKind,
    id: string,
    change: (object: AnyObject) => boolean,
  ): Promise<void> {
    const key = { namespace: sessionsNamespace, name: recordName(kind, id) }
    try {
      await this.#objects.update(secrets, key, change)
    } catch (error) {
      // It has ended meanwhile.
      if (!isStatusError(error, 'NotFound')) throw error
    }
  }

  async #remove(kind: RecordKind, id: string): Promise<void> {
    await this.#objects.delete(secrets, sessionsNamespace, recordName(kind, id))
  }

  async #ensureNamespace(): Promise<void> {
    const namespaces = { group: '', resource: 'namespaces' }
    if (this.#objects.get(namespaces, '', sessionsNamespace)) return
    const metadata = { name: sessionsNamespace }
    try {
      await this.#objects.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata })
    } catch (error) {
      // Another replica made it.
      if (!isStatusError(error, 'AlreadyExists')) throw error
    }
  }
}

function kindOf({ certificate, login }: SessionSource): NonNullable<SessionRecord['by']> {
  if (certificate !== undefined) return 'certificate'
  return login === undefined ? 'token' : 'issuer'
}

function dataIn(object: AnyObject): Readonly<Record<string, unknown>> {
  const data: unknown = object['data']
  return isJsonObject(data) ? data : {}
}
