import type { FaultView } from '../../api/contract.ts'

/** The gateway cannot be reached, broke, or did not understand. A gate's no is never this: that is a value. */
export class ControlFault extends Error {
  readonly code:
    | FaultView['code']
    | 'GATEWAY_UNREACHABLE'
    | 'GATEWAY_DIED'
    | 'GATEWAY_LOST'
    | 'GATEWAY_VERSION'
    | 'GATEWAY_SILENT'
  readonly hint: string | undefined
  constructor(code: ControlFault['code'], message: string, hint?: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'ControlFault'
    this.code = code
    this.hint = hint
  }
}
