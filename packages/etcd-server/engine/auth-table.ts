import { readMeta, writeMeta, type Database } from '@skerry/store'

type Statement = ReturnType<Database['prepare']>

export interface Permission {
  readonly permType: number
  readonly key: Uint8Array
  readonly rangeEnd: Uint8Array
}

export interface AuthUser {
  readonly name: string
  /** A hash; undefined for a user who comes with a certificate alone. */
  readonly password: string | undefined
  /** In order. */
  readonly roles: readonly string[]
}

export interface AuthRole {
  readonly name: string
  /** In the order of their keys. */
  readonly permissions: readonly Permission[]
}

/** Users, roles and whether they count, as the file has them. Call what changes it inside a transaction. */
export class AuthTable {
  readonly #database: Database
  readonly #putUser: Statement
  readonly #deleteUser: Statement
  readonly #putRole: Statement
  readonly #deleteRole: Statement

  constructor(database: Database) {
    this.#database = database
    this.#putUser = database.prepare('INSERT OR REPLACE INTO auth_user VALUES (?, ?, ?)')
    this.#deleteUser = database.prepare('DELETE FROM auth_user WHERE name = ?')
    this.#putRole = database.prepare('INSERT OR REPLACE INTO auth_role VALUES (?, ?)')
    this.#deleteRole = database.prepare('DELETE FROM auth_role WHERE name = ?')
  }

  get isEnabled(): boolean {
    return readMeta(this.#database, 'authEnabled') === 1
  }

  /** The number of changes so far; 1 if there was none. */
  get revision(): number {
    return readMeta(this.#database, 'authRevision')
  }

  users(): AuthUser[] {
    const rows = this.#database.prepare('SELECT * FROM auth_user ORDER BY name').all()
    return rows.map(({ name, password, roles }) => ({
      name: String(name),
      password: password === '' ? undefined : String(password),
      // `putUser` has written this JSON.
      roles: JSON.parse(String(roles)) as string[],
    }))
  }

  roles(): AuthRole[] {
    const rows = this.#database.prepare('SELECT * FROM auth_role ORDER BY name').all()
    return rows.map(({ name, permissions }) => {
      // `putRole` has written this JSON.
      const stored = JSON.parse(String(permissions)) as [number, string, string][]
      return {
        name: String(name),
        permissions: stored.map(([permType, key, rangeEnd]) => ({
          permType,
          key: Buffer.from(key, 'base64'),
          rangeEnd: Buffer.from(rangeEnd, 'base64'),
        })),
      }
    })
  }

  setEnabled(isEnabled: boolean): void {
    writeMeta(this.#database, 'authEnabled', isEnabled ? 1 : 0)
  }

  setRevision(revision: number): void {
    writeMeta(this.#database, 'authRevision', revision)
  }

  putUser({ name, password = '', roles }: AuthUser): void {
    this.#putUser.run(name, password, JSON.stringify(roles))
  }

  deleteUser(name: string): void {
    this.#deleteUser.run(name)
  }

  putRole({ name, permissions }: AuthRole): void {
    const stored = permissions.map(({ permType, key, rangeEnd }) => [
      permType,
      Buffer.from(key).toString('base64'),
      Buffer.from(rangeEnd).toString('base64'),
    ])
    this.#putRole.run(name, JSON.stringify(stored))
  }

  deleteRole(name: string): void {
    this.#deleteRole.run(name)
  }
}
