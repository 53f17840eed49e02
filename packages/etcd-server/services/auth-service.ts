import { root } from '../auth/auth-store.ts'
import { hashPassword, isPasswordOf } from '../auth/password-hash.ts'
import type { AuthUser } from '../engine/auth-table.ts'
import { etcdServerBounds } from '../limits-table.ts'
import { unary, type GrpcMethod } from '../grpc/grpc-call.ts'
import type { Message } from '../wire/etcd-messages-table.ts'
import { changing } from './changing-method.ts'
import { etcdError, notImplemented } from './etcd-errors-table.ts'
import { roleMethods } from './role-service.ts'
import { headerOf, rightsOf, type ServiceContext } from './service-context.ts'

const { usersMax, nameBytesMax } = etcdServerBounds.authStore

/** etcdserverpb.Auth: users, their passwords and roles, and whether they count. */
export function authService(context: ServiceContext): Readonly<Record<string, GrpcMethod>> {
  const { engine, auth } = context
  return {
    AuthStatus: unary('Empty', 'AuthStatusResponse', () => {
      const { isEnabled: enabled, revision: authRevision } = auth
      return { header: headerOf(engine), enabled, authRevision }
    }),
    Authenticate: unary('AuthenticateRequest', 'AuthenticateResponse', async (request) => ({
      header: headerOf(engine),
      token: await logIn(context, request),
    })),
    AuthEnable: changing(context, 'Empty', () => enable(context)),
    AuthDisable: changing(context, 'Empty', () =>
      auth.change(() => (auth.isEnabled ? { isEnabled: false } : undefined)),
    ),
    ...userMethods(context),
    ...roleMethods(context),
  }
}

function userMethods(context: ServiceContext): Readonly<Record<string, GrpcMethod>> {
  const { engine, auth } = context
  return {
    UserAdd: changing(context, 'AuthUserAddRequest', (request) => addUser(context, request)),
    UserDelete: changing(context, 'AuthNameRequest', ({ name }) => deleteUser(context, name)),
    UserChangePassword: changing(context, 'AuthUserChangePasswordRequest', (request) =>
      changePassword(context, request),
    ),
    UserGrantRole: changing(context, 'AuthUserGrantRoleRequest', (request) =>
      grantRole(context, request),
    ),
    UserRevokeRole: changing(context, 'AuthUserRevokeRoleRequest', (request) =>
      revokeRole(context, request),
    ),
    UserGet: unary('AuthNameRequest', 'AuthUserGetResponse', ({ name }, call) => {
      rightsOf(context, call).checkSeesUser(name)
      return { header: headerOf(engine), roles: knownUser(context, name).roles }
    }),
    UserList: unary('Empty', 'AuthUserListResponse', (_request, call) => {
      rightsOf(context, call).checkAdmin()
      return { header: headerOf(engine), users: auth.userNames() }
    }),
  }
}

/** Returns a token. Whether there is such a user cannot be told from the time that it takes. */
async function logIn(
  { auth }: ServiceContext,
  { name, password }: Message<'AuthenticateRequest'>,
): Promise<string> {
  if (!auth.isEnabled) throw etcdError('authNotEnabled')
  const user = auth.user(name)
  if (user && user.password === undefined) throw etcdError('noPasswordUser')
  const hash = user?.password ?? (await decoy())
  const isRight = await isPasswordOf(hash, password)
  // It may have been changed meanwhile.
  if (!isRight || !user || auth.user(name)?.password !== hash) throw etcdError('authFailed')
  return auth.tokens.make(name)
}

let decoyHash: Promise<string> | undefined
function decoy(): Promise<string> {
  decoyHash ??= hashPassword('')
  return decoyHash
}

function enable({ auth }: ServiceContext): Promise<void> {
  return auth.change(() => {
    if (auth.isEnabled) return undefined
    if (auth.user(root) === undefined) throw etcdError('rootUserNotFound')
    if (!auth.isAdmin(root)) throw etcdError('rootRoleNotFound')
    return { isEnabled: true, isUncounted: true }
  })
}

async function addUser(
  { auth }: ServiceContext,
  request: Message<'AuthUserAddRequest'>,
): Promise<void> {
  const { name, options } = request
  refuseHash(request)
  if (name === '') throw etcdError('userEmpty')
  if (Buffer.byteLength(name) > nameBytesMax) throw etcdError('requestTooLarge')
  const password = options?.noPassword ? undefined : await hashPassword(request.password)
  await auth.change(() => {
    if (auth.user(name)) throw etcdError('userExists')
    if (auth.userNames().length >= usersMax) throw etcdError('tooManyRequests')
    return { users: [{ name, password, roles: [] }] }
  })
}

function deleteUser(context: ServiceContext, name: string): Promise<void> {
  const { auth } = context
  return auth.change(() => {
    if (auth.isEnabled && name === root) throw etcdError('invalidAuthManagement')
    knownUser(context, name)
    return { deletedUsers: [name], loggedOut: [name] }
  })
}

async function changePassword(
  context: ServiceContext,
  request: Message<'AuthUserChangePasswordRequest'>,
): Promise<void> {
  const { name } = request
  refuseHash(request)
  const password = await hashPassword(request.password)
  await context.auth.change(() => {
    const user = knownUser(context, name)
    const isWithout = user.password === undefined
    return { users: [isWithout ? user : { ...user, password }], loggedOut: [name] }
  })
}

/** etcd's members send each other hashes of bcrypt in this field; no client does. */
function refuseHash({ hashedPassword }: { readonly hashedPassword: string }): void {
  if (hashedPassword !== '') throw notImplemented('it takes passwords and makes the hashes itself')
}

function grantRole(
  context: ServiceContext,
  { user: name, role }: Message<'AuthUserGrantRoleRequest'>,
): Promise<void> {
  const { auth } = context
  return auth.change(() => {
    const user = knownUser(context, name)
    if (role !== root && auth.role(role) === undefined) throw etcdError('roleNotFound')
    if (user.roles.includes(role)) return undefined
    return { users: [{ ...user, roles: [...user.roles, role].toSorted() }] }
  })
}

function revokeRole(
  context: ServiceContext,
  { name, role }: Message<'AuthUserRevokeRoleRequest'>,
): Promise<void> {
  const { auth } = context
  return auth.change(() => {
    if (auth.isEnabled && name === root && role === root) throw etcdError('invalidAuthManagement')
    const user = knownUser(context, name)
    if (!user.roles.includes(role)) throw etcdError('roleNotGranted')
    return { users: [{ ...user, roles: user.roles.filter((each) => each !== role) }] }
  })
}

function knownUser({ auth }: ServiceContext, name: string): AuthUser {
  const user = auth.user(name)
  if (user === undefined) throw etcdError('userNotFound')
  return user
}
