/** What was found at one place of a definition. */
export interface Finding {
  readonly rule: string
  /** JSON pointer into the definition. */
  readonly at: string
  /** 1 and more is a finding; below it is a remark. */
  readonly score: number
  /** What stands there, shortened. Not to be shown without writing out hidden characters. */
  readonly text: string
  readonly why: string
}
