import { notImplemented } from './etcd-errors-table.ts'
import { unary, type GrpcMethod } from '../grpc/grpc-call.ts'
import { headerOf, type ServiceContext } from './service-context.ts'

/** etcdserverpb.Cluster: one member, which stays the only one. */
export function clusterService(context: ServiceContext): Readonly<Record<string, GrpcMethod>> {
  const { engine, member } = context
  const refused = unary('Empty', 'Empty', () => {
    throw notImplemented('it has one member; for more, run etcd itself')
  })
  return {
    MemberList: unary('MemberListRequest', 'MemberListResponse', () => {
      const { name, clientUrls } = member
      const self = { id: engine.memberId, name, clientUrls, peerUrls: [] }
      return { header: headerOf(engine), members: [self] }
    }),
    MemberAdd: refused,
    MemberRemove: refused,
    MemberUpdate: refused,
    MemberPromote: refused,
  }
}
