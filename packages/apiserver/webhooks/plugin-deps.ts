import type { Clock, Random } from '@skerry/base'
import type { Authorizer } from '../contract/access.ts'
import type { RuleResolver } from '../authz/rule-resolver.ts'
import type { Objects } from '../contract/objects.ts'
import type { WebhookClient } from './webhook-client.ts'

/** The dependencies of the default plugins. */
export interface PluginDeps {
  readonly objects: Objects
  readonly authorizer: Authorizer
  readonly rules: RuleResolver
  readonly clock: Clock
  readonly random: Random
  /** Calls admission webhooks. */
  readonly webhooks: WebhookClient
}
