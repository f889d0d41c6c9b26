// The worker thread that searches and plans. Knows one job at a time.
import { runJob } from './job.ts'
import { serve } from './serve.ts'

serve(runJob)
