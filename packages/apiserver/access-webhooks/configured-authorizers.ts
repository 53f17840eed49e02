import type { Clock, Logger, Random } from '@skerry/base'
import type { Transport } from '@skerry/client'
import type { Authorizer } from '../contract/access.ts'
import { chainAuthorizers } from '../authz/authorizer-chain.ts'
import { configError } from '../config-file/config-shape.ts'
import { compileConditions } from './access-conditions.ts'
import { createAccessWebhook } from './access-webhook.ts'
import {
  builtinAuthorizerTypes,
  type AccessWebhookConfig,
  type AuthorizerConfig,
  type BuiltinAuthorizerType,
} from './authorization-config.ts'
import { createPostReview } from './post-review.ts'

/** The authorizers of an AuthorizationConfiguration, which can change while the server runs. */
export interface ConfiguredAuthorizers extends Disposable {
  /** Asks the authorizers in the order of the file. */
  authorizerOf(builtin: Readonly<Record<'Node' | 'RBAC', Authorizer>>): Authorizer
  /** Returns true while at least one authorizer cannot list what it allows. */
  hasWebhook(): boolean
  /**
   * Takes effect with the next request. Throws if the configuration is unusable; the previous one
   * then stays.
   */
  setConfig(configs: readonly AuthorizerConfig[]): Promise<void>
}

export interface ConfiguredAuthorizersDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Opens a transport to the webhook that a kubeconfig names. */
  readonly open: (kubeconfigPath: string) => Promise<Transport & Disposable>
}

type Link =
  | { readonly type: BuiltinAuthorizerType }
  | { readonly type: 'Webhook'; readonly authorizer: Authorizer }

interface Chain extends Disposable {
  readonly links: readonly Link[]
}

const allow: Authorizer = Object.freeze<Authorizer>({
  authorize: async () => ({ verdict: 'allow', reason: '' }),
})
const deny: Authorizer = Object.freeze<Authorizer>({
  authorize: async () => ({
    verdict: 'no-opinion',
    reason: 'Everything is forbidden.',
  }),
})

export async function createConfiguredAuthorizers(
  configs: readonly AuthorizerConfig[],
  deps: ConfiguredAuthorizersDeps,
): Promise<ConfiguredAuthorizers> {
  let chain = await openChain(configs, deps)
  const required = builtinTypesOf(configs)
  return {
    authorizerOf(builtin) {
      const all = { ...builtin, AlwaysAllow: allow, AlwaysDeny: deny }
      let made: { chain: Chain; authorizer: Authorizer } | undefined
      return {
        authorize(asked) {
          if (made?.chain !== chain) {
            const parts = chain.links.map((link) =>
              link.type === 'Webhook' ? link.authorizer : all[link.type],
            )
            made = { chain, authorizer: chainAuthorizers(parts) }
          }
          return made.authorizer.authorize(asked)
        },
      }
    },
    hasWebhook: () => chain.links.some(({ type }) => type === 'Webhook'),
    async setConfig(next) {
      const missing = required.filter((type) => !builtinTypesOf(next).includes(type))
      if (missing.length > 0) {
        throw configError(
          'AuthorizationConfiguration',
          `these types cannot be removed while the server runs: ${missing.join(', ')}`,
        )
      }
      // The old chain may still be answering questions; its idle connections close by themselves.
      chain = await openChain(next, deps)
    },
    [Symbol.dispose]: () => chain[Symbol.dispose](),
  }
}

function builtinTypesOf(configs: readonly AuthorizerConfig[]): BuiltinAuthorizerType[] {
  return builtinAuthorizerTypes.filter((type) => configs.some((each) => each.type === type))
}

async function openChain(
  configs: readonly AuthorizerConfig[],
  deps: ConfiguredAuthorizersDeps,
): Promise<Chain> {
  using stack = new DisposableStack()
  const links: Link[] = []
  for (const config of configs) {
    if (config.type !== 'Webhook') links.push({ type: config.type })
    else {
      const transport = stack.use(await deps.open(config.kubeconfigPath))
      links.push({ type: 'Webhook', authorizer: webhookOf(config, transport, deps) })
    }
  }
  const owned = stack.move()
  return { links, [Symbol.dispose]: () => owned.dispose() }
}

function webhookOf(
  config: AccessWebhookConfig & { readonly name: string },
  transport: Transport,
  deps: ConfiguredAuthorizersDeps,
): Authorizer {
  const { name, conditions, ...options } = config
  const peer = `authorization webhook "${name}"`
  const post = createPostReview(transport, config.timeoutMs, { ...deps, peer })
  return createAccessWebhook(
    post,
    { ...options, ...(conditions.length > 0 ? { conditions: compileConditions(conditions) } : {}) },
    deps,
  )
}
