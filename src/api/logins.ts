import { z } from 'zod'

export const beginLoginSchema = z.strictObject({
  /** Loopback URI that the browser is sent back to. */
  redirectUri: z.string().regex(/^http:\/\/(127\.0\.0\.1|\[::1\]):\d{1,5}\/[\w/-]*$/),
})
export type BeginLogin = z.infer<typeof beginLoginSchema>

export const loginSchema = z.strictObject({ login: z.string(), url: z.string() })
export type Login = z.infer<typeof loginSchema>

/** The URL that the browser was sent back to. */
export const finishLoginSchema = z.strictObject({ back: z.string().min(1).max(16_384) })
export type FinishLogin = z.infer<typeof finishLoginSchema>

/** Of an upstream that has `auth`. */
export const authViewSchema = z.strictObject({
  issuer: z.string().exactOptional(),
  scopes: z.array(z.string()).readonly().exactOptional(),
  expiresAt: z.number().exactOptional(),
  /** Is there a refresh token? */
  refreshes: z.boolean(),
  /** Why there is no token that could be used. */
  problem: z.string().exactOptional(),
})
