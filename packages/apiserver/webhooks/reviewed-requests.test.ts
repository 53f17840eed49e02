import { test } from 'node:test'
import assert from 'node:assert/strict'
import {
  callApi,
  startTestApiServer,
  startTestWebhook,
  type JsonReply,
  type WebhookReply,
} from '@skerry/testing'

/** Requests as another user, and binds to another node. */
const changes: Readonly<Record<string, object>> = {
  SubjectAccessReview: { op: 'replace', path: '/spec/groups/0', value: 'system:masters' },
  Binding: { op: 'replace', path: '/target/name', value: 'other' },
}

const changing = ({ body }: { body: unknown }): WebhookReply => {
  const { apiVersion, request } = body as JsonReply
  const patch = Buffer.from(JSON.stringify([changes[request.kind.kind]])).toString('base64')
  const response = { uid: request.uid, allowed: true, patchType: 'JSONPatch', patch }
  return { apiVersion, kind: 'AdmissionReview', response }
}

test('a webhook can change the question of a review, and the target of a binding', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  await using hook = await startTestWebhook(changing)
  const post = async (path: string, body: object): Promise<JsonReply> => {
    const reply = await callApi(api.transport, { method: 'POST', path, body })
    assert.equal(reply.status, 201, reply.text)
    return reply.body
  }
  const namespace = '/api/v1/namespaces/default'
  const containers = [{ name: 'c', image: 'x:1' }]
  await post(`${namespace}/serviceaccounts`, { metadata: { name: 'default' } })
  await post(`${namespace}/pods`, { metadata: { name: 'one' }, spec: { containers } })
  await post('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
    metadata: { name: 'test' },
    webhooks: [
      {
        name: 'a.test.dev',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        clientConfig: { url: hook.url, caBundle: hook.caBundle },
        rules: ['subjectaccessreviews', 'bindings'].map((resource) => ({
          apiGroups: ['*'],
          apiVersions: ['*'],
          operations: ['CREATE'],
          resources: [resource],
        })),
      },
    ],
  })
  const resourceAttributes = { verb: 'get', resource: 'pods' }
  const review = await post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    spec: { groups: ['nobody'], resourceAttributes },
  })
  assert.equal(review.status.allowed, true)
  await post(`${namespace}/bindings`, { metadata: { name: 'one' }, target: { name: 'n' } })
  const pod = await callApi(api.transport, { method: 'GET', path: `${namespace}/pods/one` })
  assert.equal(pod.body.spec.nodeName, 'other')
})
