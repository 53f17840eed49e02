import type { AuthStore } from '../auth/auth-store.ts'
import type { EtcdEngine } from '../engine/etcd-engine.ts'
import type { Caller } from '../grpc/grpc-call.ts'
import type { Message } from '../wire/etcd-messages-table.ts'
import { etcdError } from './etcd-errors-table.ts'

const noEnd = new Uint8Array(0)

/**
 * The rights of one caller, as etcd decides them (its apply/auth.go). While authentication is off, everybody may do
 * everything. Each check throws GrpcError.
 */
export class CallerRights {
  readonly #auth: AuthStore
  readonly #engine: EtcdEngine
  /** Undefined while authentication is off. */
  readonly #user: string | undefined

  constructor(auth: AuthStore, engine: EtcdEngine, caller: Caller) {
    this.#auth = auth
    this.#engine = engine
    this.#user = auth.isEnabled ? userOf(auth, caller) : undefined
  }

  checkUser(): void {
    if (this.#user === '') throw etcdError('userEmpty')
  }

  checkAdmin(): void {
    if (this.#user === undefined) return
    this.checkUser()
    if (this.#auth.user(this.#user) === undefined) throw etcdError('userNotFound')
    if (!this.#auth.isAdmin(this.#user)) throw etcdError('permissionDenied')
  }

  /** Users see themselves and the roles that they have. */
  checkSeesUser(name: string): void {
    if (this.#user !== name) this.checkAdmin()
  }

  checkSeesRole(name: string): void {
    const roles = this.#auth.user(this.#user ?? '')?.roles ?? []
    if (!roles.includes(name)) this.checkAdmin()
  }

  checkRead(key: Uint8Array, rangeEnd: Uint8Array): void {
    if (this.#user === undefined) return
    this.checkUser()
    if (!this.#auth.mayRead(this.#user, key, rangeEnd)) throw etcdError('permissionDenied')
  }

  #checkWrite(key: Uint8Array, rangeEnd: Uint8Array = noEnd): void {
    if (this.#user === undefined) return
    this.checkUser()
    if (!this.#auth.mayWrite(this.#user, key, rangeEnd)) throw etcdError('permissionDenied')
  }

  checkPut({ key, lease, prevKv }: Message<'PutRequest'>): void {
    if (this.#user === undefined) return
    this.#checkWrite(key)
    // All keys of a lease are deleted together, so its user must be allowed to write each of them.
    if (lease !== 0n) this.checkLeaseWrite(lease)
    if (prevKv) this.checkRead(key, noEnd)
  }

  checkDelete({ key, rangeEnd, prevKv }: Message<'DeleteRangeRequest'>): void {
    if (this.#user === undefined) return
    this.#checkWrite(key, rangeEnd)
    if (prevKv) this.checkRead(key, rangeEnd)
  }

  checkTxn({ compare, success, failure }: Message<'TxnRequest'>): void {
    if (this.#user === undefined) return
    this.checkUser()
    for (const { key, rangeEnd } of compare) this.checkRead(key, rangeEnd)
    for (const each of [...success, ...failure]) {
      if (each.requestRange) this.checkRead(each.requestRange.key, each.requestRange.rangeEnd)
      if (each.requestPut) this.checkPut(each.requestPut)
      if (each.requestDeleteRange) this.checkDelete(each.requestDeleteRange)
      if (each.requestTxn) this.checkTxn(each.requestTxn)
    }
  }

  /** The lease is theirs who may write all of its keys. */
  checkLeaseWrite(lease: bigint): void {
    this.#checkLease(lease, (key) => this.#checkWrite(key))
  }

  checkLeaseRead(lease: bigint): void {
    this.#checkLease(lease, (key) => this.checkRead(key, noEnd))
  }

  #checkLease(lease: bigint, check: (key: Uint8Array) => void): void {
    if (this.#user === undefined) return
    this.checkUser()
    if (this.#auth.isAdmin(this.#user)) return
    for (const key of this.#engine.keysOf(lease)) check(key)
  }
}

/** A token counts more than a certificate. '' stands for nobody. Throws GrpcError for an unknown token. */
function userOf(auth: AuthStore, { token, commonName }: Caller): string {
  if (token === undefined) return commonName ?? ''
  const user = auth.tokens.userOf(token)
  if (user === undefined) throw etcdError('invalidAuthToken')
  return user
}
