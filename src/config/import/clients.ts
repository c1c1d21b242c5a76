import { claudeCode } from './claude-code.ts'
import { claudeDesktop } from './claude-desktop.ts'
import type { Client } from './client.ts'
import { cline } from './cline.ts'
import { codex } from './codex.ts'
import { cursor } from './cursor.ts'
import { gemini } from './gemini.ts'
import { goose } from './goose.ts'
import { opencode } from './opencode.ts'
import { vscode } from './vscode.ts'
import { windsurf } from './windsurf.ts'
import { zed } from './zed.ts'

/** Every client that we can be put in front of. */
export const clients: readonly Client[] = [
  claudeCode,
  claudeDesktop,
  vscode,
  cursor,
  codex,
  gemini,
  zed,
  goose,
  opencode,
  windsurf,
  cline,
]
