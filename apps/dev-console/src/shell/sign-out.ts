import { useNavigate } from '@tanstack/react-router';
import { queryClient } from '../api.ts';
import { removeKey } from '../saved-key.ts';

export function useSignOut(): () => void {
  const navigate = useNavigate();
  return () => {
    removeKey();
    void navigate({ to: '/sign-in' }).then(() => queryClient.clear());
  };
}
