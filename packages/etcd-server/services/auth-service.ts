import { etcdError, notImplemented } from './etcd-errors-table.ts'
import { unary, type GrpcMethod } from '../grpc/grpc-call.ts'
import { headerOf, type ServiceContext } from './service-context.ts'

/**
 * Answers etcdserverpb.Auth as an etcd that has neither users nor roles. Client certificates decide which clients may
 * come in at all.
 */
export function authService({ engine }: ServiceContext): Readonly<Record<string, GrpcMethod>> {
  const failing = (error: () => Error): GrpcMethod =>
    unary('Empty', 'Empty', () => {
      throw error()
    })
  const none = unary('Empty', 'AuthNames', () => ({ header: headerOf(engine) }))
  const refused = failing(() =>
    notImplemented('it has no users and roles; require client certificates'),
  )
  const noUser = failing(() => etcdError('userNotFound'))
  const noRole = failing(() => etcdError('roleNotFound'))
  return {
    AuthStatus: unary('Empty', 'AuthStatusResponse', () => {
      return { header: headerOf(engine), enabled: false, authRevision: 1 }
    }),
    Authenticate: failing(() => etcdError('authNotEnabled')),
    AuthEnable: failing(() => etcdError('rootUserNotFound')),
    AuthDisable: unary('Empty', 'AuthNames', () => ({ header: headerOf(engine) })),
    UserList: none,
    RoleList: none,
    UserAdd: refused,
    RoleAdd: refused,
    UserGet: noUser,
    UserDelete: noUser,
    UserChangePassword: noUser,
    UserGrantRole: noUser,
    UserRevokeRole: noUser,
    RoleGet: noRole,
    RoleDelete: noRole,
    RoleGrantPermission: noRole,
    RoleRevokePermission: noRole,
  }
}
