import { unary, type CallContext, type GrpcMethod } from '../grpc/grpc-call.ts'
import type { Message, MessageDraft, MessageName } from '../wire/etcd-messages-table.ts'
import { headerOf, rightsOf, type ServiceContext } from './service-context.ts'

/** Makes a method that an administrator may call and that answers nothing. */
export function changing<Request extends MessageName>(
  context: ServiceContext,
  request: Request,
  change: (request: Message<Request>) => Promise<void>,
): GrpcMethod {
  const handle = async (
    asked: Message<Request>,
    call: CallContext,
  ): Promise<MessageDraft<'AuthResponse'>> => {
    rightsOf(context, call).checkAdmin()
    await change(asked)
    return { header: headerOf(context.engine) }
  }
  return unary(request, 'AuthResponse', handle)
}
