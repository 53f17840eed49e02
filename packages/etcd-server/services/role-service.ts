import { root } from '../auth/auth-store.ts'
import { permissionTypes } from '../auth/permitted-ranges.ts'
import type { AuthRole, Permission } from '../engine/auth-table.ts'
import { etcdServerBounds } from '../limits-table.ts'
import { unary, type GrpcMethod } from '../grpc/grpc-call.ts'
import type { Message } from '../wire/etcd-messages-table.ts'
import { changing } from './changing-method.ts'
import { etcdError } from './etcd-errors-table.ts'
import { headerOf, rightsOf, type ServiceContext } from './service-context.ts'

const { rolesMax, permissionsMax, nameBytesMax } = etcdServerBounds.authStore

/** The part of etcdserverpb.Auth that is about roles. */
export function roleMethods(context: ServiceContext): Readonly<Record<string, GrpcMethod>> {
  const { engine, auth } = context
  return {
    RoleAdd: changing(context, 'AuthNameRequest', ({ name }) => addRole(context, name)),
    RoleDelete: changing(context, 'AuthRoleRequest', ({ role }) => deleteRole(context, role)),
    RoleGrantPermission: changing(context, 'AuthRoleGrantPermissionRequest', (request) =>
      grantPermission(context, request),
    ),
    RoleRevokePermission: changing(context, 'AuthRoleRevokePermissionRequest', (request) =>
      revokePermission(context, request),
    ),
    RoleGet: unary('AuthRoleRequest', 'AuthRoleGetResponse', ({ role }, call) => {
      rightsOf(context, call).checkSeesRole(role)
      const { permissions } = knownRole(context, role)
      return { header: headerOf(engine), perm: role === root ? [everything] : permissions }
    }),
    RoleList: unary('Empty', 'AuthRoleListResponse', (_request, call) => {
      rightsOf(context, call).checkAdmin()
      return { header: headerOf(engine), roles: auth.roleNames() }
    }),
  }
}

const everything: Permission = Object.freeze({
  permType: permissionTypes.readWrite,
  key: new Uint8Array(0),
  rangeEnd: Uint8Array.of(0),
})

function addRole({ auth }: ServiceContext, name: string): Promise<void> {
  return auth.change(() => {
    if (name === '') throw etcdError('roleEmpty')
    if (Buffer.byteLength(name) > nameBytesMax) throw etcdError('requestTooLarge')
    if (auth.role(name)) throw etcdError('roleExists')
    if (auth.roleNames().length >= rolesMax) throw etcdError('tooManyRequests')
    return { roles: [{ name, permissions: [] }] }
  })
}

/** Users lose the role with it. */
function deleteRole(context: ServiceContext, name: string): Promise<void> {
  const { auth } = context
  return auth.change(() => {
    if (auth.isEnabled && name === root) throw etcdError('invalidAuthManagement')
    knownRole(context, name)
    const users = [...auth.users].filter(({ roles }) => roles.includes(name))
    return {
      deletedRoles: [name],
      users: users.map((user) => ({ ...user, roles: user.roles.filter((each) => each !== name) })),
    }
  })
}

function grantPermission(
  context: ServiceContext,
  { name, perm }: Message<'AuthRoleGrantPermissionRequest'>,
): Promise<void> {
  return context.auth.change(() => {
    const role = knownRoleFirst(context, name, perm)
    const { permType, key, rangeEnd } = role.granted
    if (permType < permissionTypes.read || permType > permissionTypes.readWrite) {
      throw etcdError('invalidAuthManagement')
    }
    // The bytes are copied, because they are part of the request's.
    const granted = { permType, key: new Uint8Array(key), rangeEnd: new Uint8Array(rangeEnd) }
    const others = role.permissions.filter((each) => !isSameRange(each, granted))
    if (others.length >= permissionsMax) throw etcdError('tooManyRequests')
    const permissions = [...others, granted].toSorted((a, b) => Buffer.compare(a.key, b.key))
    return { roles: [{ name, permissions }] }
  })
}

/** etcd asks for the permission, then for its range, and then for the role. */
function knownRoleFirst(
  context: ServiceContext,
  name: string,
  granted: Permission | undefined,
): AuthRole & { readonly granted: Permission } {
  if (granted === undefined) throw etcdError('permissionNotGiven')
  if (!isValidRange(granted)) throw etcdError('invalidAuthManagement')
  return { ...knownRole(context, name), granted }
}

/** A range has keys; its end `\0` stands for the end of all keys. */
function isValidRange({ key, rangeEnd }: Permission): boolean {
  if (key.length === 0) return false
  if (rangeEnd.length === 0 || (rangeEnd.length === 1 && rangeEnd[0] === 0)) return true
  return Buffer.compare(key, rangeEnd) < 0
}

function revokePermission(
  context: ServiceContext,
  { role: name, key, rangeEnd }: Message<'AuthRoleRevokePermissionRequest'>,
): Promise<void> {
  return context.auth.change(() => {
    const { permissions } = knownRole(context, name)
    const others = permissions.filter((each) => !isSameRange(each, { key, rangeEnd }))
    if (others.length === permissions.length) throw etcdError('permissionNotGranted')
    return { roles: [{ name, permissions: others }] }
  })
}

function isSameRange(a: Omit<Permission, 'permType'>, b: Omit<Permission, 'permType'>): boolean {
  return Buffer.compare(a.key, b.key) === 0 && Buffer.compare(a.rangeEnd, b.rangeEnd) === 0
}

function knownRole({ auth }: ServiceContext, name: string): AuthRole {
  const role = auth.role(name)
  if (role === undefined) throw etcdError('roleNotFound')
  return role
}
