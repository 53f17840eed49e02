import { parseDurationMs } from '@skerry/api'
import {
  accessWebhookLimits,
  createConfiguredAuthorizers,
  createPostReview,
  createTokenWebhook,
  followFile,
  readAuthorizationConfig,
  type ConfiguredAuthorizers,
  type TokenAuthenticator,
} from '@skerry/apiserver'
import type { Task } from '@skerry/base'
import { readText, wrongUse } from '../runtime/read-config-file.ts'
import type { RoleContext } from '../runtime/role-context.ts'
import type { AccessOptions, TokenWebhookOptions } from './access-options.ts'
import { openWebhookTransport } from './webhook-transport.ts'

/** The webhooks that authenticate and authorize users. */
export interface AccessWebhooks extends Disposable {
  readonly tokenWebhook?: TokenAuthenticator
  readonly configuredAuthorizers?: ConfiguredAuthorizers
  follow(lookMs: number): readonly Task[]
}

/** The `iss` of this server's own tokens, for which a webhook's answer without audiences is valid. */
const audiences = ['https://kubernetes.default.svc.cluster.local']

export async function openAccessWebhooks(
  { tokenWebhook: asked = {}, authorizationConfig: path }: AccessOptions,
  context: RoleContext,
): Promise<AccessWebhooks> {
  using stack = new DisposableStack()
  const tokenWebhook = await openTokenWebhook(asked, { context, stack })
  const text = path === undefined ? '' : await readText(path)
  const configuredAuthorizers =
    path === undefined
      ? undefined
      : stack.use(
          await createConfiguredAuthorizers(readAuthorizationConfig(text), {
            ...context,
            open: (named) => openWebhookTransport(named, context),
          }),
        )
  const owned = stack.move()
  return {
    ...(tokenWebhook ? { tokenWebhook } : {}),
    ...(configuredAuthorizers ? { configuredAuthorizers } : {}),
    follow(lookMs) {
      if (path === undefined || !configuredAuthorizers) return []
      const onText = (next: string): Promise<void> =>
        configuredAuthorizers.setConfig(readAuthorizationConfig(next))
      return [(signal) => followFile({ path, text, lookMs }, onText, context, signal)]
    },
    [Symbol.dispose]: () => owned.dispose(),
  }
}

async function openTokenWebhook(
  { configFile: path, cacheTtl: ttl = '2m', version = 'v1beta1' }: TokenWebhookOptions,
  { context, stack }: { context: RoleContext; stack: DisposableStack },
): Promise<TokenAuthenticator | undefined> {
  if (path === undefined) return undefined
  const cacheMs = parseDurationMs(ttl)
  if (cacheMs === undefined || cacheMs < 0) {
    throw wrongUse(`--authentication-token-webhook-cache-ttl ${ttl} is not a duration`)
  }
  if (version !== 'v1' && version !== 'v1beta1') {
    throw wrongUse(`--authentication-token-webhook-version is v1 or v1beta1, not ${version}`)
  }
  const transport = stack.use(await openWebhookTransport(path, context))
  const deps = { ...context, peer: 'authentication webhook' }
  const post = createPostReview(transport, accessWebhookLimits.tokenTimeoutMs, deps)
  return createTokenWebhook(post, { version, cacheMs, audiences }, context)
}
