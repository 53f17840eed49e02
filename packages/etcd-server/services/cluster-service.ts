import { notImplemented } from './etcd-errors-table.ts'
import { unary, type GrpcMethod } from '../grpc/grpc-call.ts'
import { headerOf, rightsOf, type ServiceContext } from './service-context.ts'

/** etcdserverpb.Cluster: one member, which stays the only one. */
export function clusterService(context: ServiceContext): Readonly<Record<string, GrpcMethod>> {
  const { engine, member } = context
  const refused = unary('Empty', 'Empty', (_request, call) => {
    rightsOf(context, call).checkAdmin()
    throw notImplemented('it has one member; for more, run etcd itself')
  })
  return {
    MemberList: unary('MemberListRequest', 'MemberListResponse', (_request, call) => {
      rightsOf(context, call).checkUser()
      const { name, clientUrls } = member
      const self = { id: engine.memberId, name, clientUrls, peerUrls: [] }
      // etcd's answers about members have no revision.
      return { header: headerOf(engine, 0), members: [self] }
    }),
    MemberAdd: refused,
    MemberRemove: refused,
    MemberUpdate: refused,
    MemberPromote: refused,
  }
}
