import { systemClock, seededRandom } from '@skerry/base'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'
import { createRbacAuthorizer } from '../authz/rbac-authorizer.ts'
import { createRuleResolver } from '../authz/rule-resolver.ts'
import type { Objects } from '../contract/objects.ts'
import { createWebhookClient } from '../webhooks/webhook-client.ts'
import { stillClock } from './still-clock.ts'

export const testStartMs = Date.UTC(2026, 5, 1)

export function pluginDeps(objects: Objects): PluginDeps {
  const rules = createRuleResolver(objects)
  return {
    objects,
    rules,
    authorizer: createRbacAuthorizer(rules),
    clock: stillClock(testStartMs),
    random: seededRandom(1),
    webhooks: createWebhookClient({ objects, clock: systemClock, random: seededRandom(1) }),
  }
}
