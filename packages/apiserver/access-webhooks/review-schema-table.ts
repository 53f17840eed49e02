import type { SchemaSet } from '@skerry/api'

const texts = { type: 'array', items: { type: 'string' } } as const

/** The fields that are read from a webhook's answer. Other fields are ignored. */
export const reviewSchemas: SchemaSet = Object.freeze({
  SubjectAccessReview: { type: 'object', properties: { status: { ref: 'AccessStatus' } } },
  AccessStatus: {
    type: 'object',
    properties: {
      allowed: { type: 'boolean' },
      denied: { type: 'boolean' },
      reason: { type: 'string' },
      evaluationError: { type: 'string' },
    },
  },
  TokenReview: { type: 'object', properties: { status: { ref: 'TokenStatus' } } },
  TokenStatus: {
    type: 'object',
    properties: {
      authenticated: { type: 'boolean' },
      user: { ref: 'UserInfo' },
      audiences: texts,
      error: { type: 'string' },
    },
  },
  UserInfo: {
    type: 'object',
    properties: {
      username: { type: 'string' },
      uid: { type: 'string' },
      groups: texts,
      extra: { type: 'object', additionalProperties: texts },
    },
  },
})
