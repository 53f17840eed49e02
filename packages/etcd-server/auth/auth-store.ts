import type { Clock } from '@skerry/base'
import type { AuthRole, AuthTable, AuthUser } from '../engine/auth-table.ts'
import { keyRange, type KeyRange } from '../engine/key-range.ts'
import { isCovered, permittedRanges, type PermittedRanges } from './permitted-ranges.ts'
import { TokenTable } from './token-table.ts'

/** The user and the role that may do everything, by their names (etcd's "Role-based access control"). */
export const root = 'root'

/** The state after a change. */
export interface AuthChange {
  readonly users?: readonly AuthUser[]
  readonly deletedUsers?: readonly string[]
  readonly roles?: readonly AuthRole[]
  readonly deletedRoles?: readonly string[]
  readonly isEnabled?: boolean
  /** Users whose tokens end. */
  readonly loggedOut?: readonly string[]
  /** True if the change has no number of its own. */
  readonly isUncounted?: boolean
}

export interface AuthStoreDeps {
  readonly table: AuthTable
  readonly clock: Clock
  /** Makes a change durable. */
  readonly commit: (change: () => void) => Promise<void>
}

/** Users, roles and their permissions. Changes are durable before they count, and follow each other. */
export class AuthStore {
  readonly tokens: TokenTable
  readonly #deps: AuthStoreDeps
  readonly #users: Map<string, AuthUser>
  readonly #roles: Map<string, AuthRole>
  readonly #ranges = new Map<string, PermittedRanges>()
  #isEnabled: boolean
  #revision: number
  #last: Promise<unknown> = Promise.resolve()

  constructor(deps: AuthStoreDeps) {
    const { table, clock } = deps
    this.#deps = deps
    this.tokens = new TokenTable(clock)
    this.#users = new Map(table.users().map((user) => [user.name, user]))
    this.#roles = new Map(table.roles().map((role) => [role.name, role]))
    this.#isEnabled = table.isEnabled
    this.#revision = table.revision
  }

  get isEnabled(): boolean {
    return this.#isEnabled
  }

  get revision(): number {
    return this.#revision
  }

  user(name: string): AuthUser | undefined {
    return this.#users.get(name)
  }

  role(name: string): AuthRole | undefined {
    return this.#roles.get(name)
  }

  /** In order. */
  userNames(): string[] {
    return [...this.#users.keys()].toSorted(byBytes)
  }

  /** In order. */
  roleNames(): string[] {
    return [...this.#roles.keys()].toSorted(byBytes)
  }

  get users(): Iterable<AuthUser> {
    return this.#users.values()
  }

  isAdmin(user: string): boolean {
    return this.#users.get(user)?.roles.includes(root) ?? false
  }

  mayRead(user: string, key: Uint8Array, rangeEnd: Uint8Array): boolean {
    return this.#may(user, 'read', keyRange(key, rangeEnd))
  }

  mayWrite(user: string, key: Uint8Array, rangeEnd: Uint8Array): boolean {
    return this.#may(user, 'write', keyRange(key, rangeEnd))
  }

  /** Plans a change once those before it are done, and carries it out. A plan may throw, and may be nothing. */
  change(plan: () => AuthChange | undefined): Promise<void> {
    const done = this.#last.then(async () => {
      const change = plan()
      if (change === undefined) return
      const revision = change.isUncounted ? this.#revision : this.#revision + 1
      await this.#deps.commit(() => this.#write(change, revision))
      this.#apply(change, revision)
    })
    this.#last = done.catch(() => {})
    return done
  }

  #may(user: string, way: keyof PermittedRanges, range: KeyRange): boolean {
    return this.isAdmin(user) || isCovered(range, this.#rangesOf(user)[way])
  }

  #rangesOf(name: string): PermittedRanges {
    const known = this.#ranges.get(name)
    if (known) return known
    const roles = this.#users.get(name)?.roles ?? []
    const ranges = permittedRanges(
      roles.flatMap((role) => this.#roles.get(role)?.permissions ?? []),
    )
    // A certificate may name anybody; only users are kept.
    if (this.#users.has(name)) this.#ranges.set(name, ranges)
    return ranges
  }

  #write(change: AuthChange, revision: number): void {
    const { table } = this.#deps
    table.setRevision(revision)
    for (const user of change.users ?? []) table.putUser(user)
    for (const name of change.deletedUsers ?? []) table.deleteUser(name)
    for (const role of change.roles ?? []) table.putRole(role)
    for (const name of change.deletedRoles ?? []) table.deleteRole(name)
    if (change.isEnabled !== undefined) table.setEnabled(change.isEnabled)
  }

  #apply(change: AuthChange, revision: number): void {
    this.#revision = revision
    this.#ranges.clear()
    for (const user of change.users ?? []) this.#users.set(user.name, user)
    for (const name of change.deletedUsers ?? []) this.#users.delete(name)
    for (const role of change.roles ?? []) this.#roles.set(role.name, role)
    for (const name of change.deletedRoles ?? []) this.#roles.delete(name)
    for (const name of change.loggedOut ?? []) this.tokens.end(name)
    if (change.isEnabled === undefined) return
    this.#isEnabled = change.isEnabled
    if (!change.isEnabled) this.tokens.end()
  }
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
