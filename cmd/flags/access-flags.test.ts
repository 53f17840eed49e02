import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { accessOptionsOf, withAccessOptions, type AccessFlags } from './access-flags.ts'

test('each word for access sets its option, and no other', () => {
  const command = withAccessOptions(new Command())
  const words = command.options.flatMap(({ long = '', flags }) => {
    const isNumber = /<(?:megabytes|number|days)>/.test(flags)
    if (!flags.includes('<')) return [long]
    return [long, isNumber ? '7' : `of ${long.slice(2)}`]
  })
  command.parse(['node', 'skerry', ...words])
  const of = (word: string): string => `of ${word}`
  assert.deepEqual(accessOptionsOf(command.opts<AccessFlags>()), {
    encryption: { providerConfig: of('encryption-provider-config'), newKey: true },
    authenticationConfig: of('authentication-config'),
    tokenAuthFile: of('token-auth-file'),
    tokenWebhook: {
      configFile: of('authentication-token-webhook-config-file'),
      cacheTtl: of('authentication-token-webhook-cache-ttl'),
      version: of('authentication-token-webhook-version'),
    },
    oidc: {
      issuerUrl: of('oidc-issuer-url'),
      clientId: of('oidc-client-id'),
      usernameClaim: of('oidc-username-claim'),
      usernamePrefix: of('oidc-username-prefix'),
      groupsClaim: of('oidc-groups-claim'),
      groupsPrefix: of('oidc-groups-prefix'),
      requiredClaim: [of('oidc-required-claim')],
      signingAlgs: of('oidc-signing-algs'),
      caFile: of('oidc-ca-file'),
    },
    authorizationConfig: of('authorization-config'),
    enableAdmissionPlugins: of('enable-admission-plugins'),
    audit: {
      policyFile: of('audit-policy-file'),
      log: { path: of('audit-log-path'), maxMegabytes: 7, maxBackups: 7, maxAgeDays: 7 },
      webhook: {
        configFile: of('audit-webhook-config-file'),
        batchMaxSize: 7,
        batchMaxWait: of('audit-webhook-batch-max-wait'),
        batchBufferSize: 7,
      },
    },
  })
})
