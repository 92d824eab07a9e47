import { useNavigate } from '@tanstack/react-router';
import { queryClient } from '../api.ts';
import { endSession } from '../connection/tabs.ts';
import { closeAll } from '../live/streams.ts';

export function useSignOut(): () => void {
  const navigate = useNavigate();
  return () => {
    closeAll();
    endSession();
    void navigate({ to: '/sign-in' }).then(() => queryClient.clear());
  };
}
